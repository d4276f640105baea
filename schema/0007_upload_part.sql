-- One part of an upload, a blob of its own.  States, sweep_at and claim as in
-- file, but a live part's sweep_at is the upload's expires, and a part whose
-- bytes are removed leaves no tombstone: its row goes.
CREATE TABLE upload_part (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid          CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  upload_id    BIGINT UNSIGNED NOT NULL,
  state        ENUM('uploading','live','dead') NOT NULL,
  store_key    CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  bytes        BIGINT UNSIGNED NULL,
  created      BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  sweep_at     BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  claim        BIGINT UNSIGNED NOT NULL DEFAULT 0,
  claim_until  BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY upload_part_pid (upload_id, pid),
  UNIQUE KEY upload_part_store_key (store_key),
  KEY upload_part_sweep (state, sweep_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
