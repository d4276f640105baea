-- A document's text is known within a workspace only: what is read sooner would
-- tell that somebody elsewhere has read an equal document.  Rows of before this
-- step belong to none and go with their age.
ALTER TABLE document_text
  ADD COLUMN workspace_id BIGINT UNSIGNED NOT NULL DEFAULT 0 FIRST,
  DROP PRIMARY KEY,
  ADD PRIMARY KEY (workspace_id, sha256, way);
