-- A file from its first byte to its tombstone.
--   uploading  store_key is set, bytes may be in the store; no pid yet
--   live       pid, name, bytes and the rest are set and never change again
--   dead       deleted, or an upload given up; bytes may still be in the store
--   gone       bytes removed and store_key NULL; kept so that cursors resolve
-- sweep_at is, for uploading, when a write was last seen; for live, expires; for
-- dead and gone, the time of death.  Whoever would remove the bytes of an upload
-- must first make it dead: publishing asks for uploading and claim 0 in the same
-- UPDATE that makes it live.  claim and claim_until belong to the sweep.
-- pid is the public id without prefix, store_key the blob's name, lc_session and
-- lc_object the second name of the same file (LibreChat's pair).
CREATE TABLE file (
  id                 BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid                VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
  workspace_id       BIGINT UNSIGNED NOT NULL,
  user_id            BIGINT UNSIGNED NOT NULL,
  state              ENUM('uploading','live','dead','gone') NOT NULL,
  origin             ENUM('upload','run','provider') NOT NULL,
  store_key          CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  bytes              BIGINT UNSIGNED NULL COMMENT 'NULL = not known',
  sha256             CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  name               VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  mime               VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  purpose            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created            BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms; of a live file also in pid',
  expires            BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = never',
  sweep_at           BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = nothing to do',
  claim              BIGINT UNSIGNED NOT NULL DEFAULT 0,
  claim_until        BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Unix ms',
  container_id       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
  container_path     VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  provider           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  provider_instance  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  lc_session         CHAR(21) CHARACTER SET ascii COLLATE ascii_bin NULL,
  lc_object          CHAR(21) CHARACTER SET ascii COLLATE ascii_bin NULL,
  last_used          BIGINT UNSIGNED NULL     COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY file_pid (workspace_id, user_id, pid),
  UNIQUE KEY file_store_key (store_key),
  UNIQUE KEY file_lc (lc_session, lc_object),
  KEY file_list (workspace_id, user_id, state, created, pid),
  KEY file_list_purpose (workspace_id, user_id, state, purpose, created, pid),
  KEY file_sweep (state, sweep_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
