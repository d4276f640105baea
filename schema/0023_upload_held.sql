-- held is what the parts of a pending upload take of its owner's quota: none of
-- them goes before the upload itself has ended.
ALTER TABLE upload
  ADD COLUMN held BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Bytes of parts' AFTER parts,
  ADD KEY upload_quota (workspace_id, user_id, state, expires, held);
