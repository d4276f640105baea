-- An upload in parts.  sweep_at is expires while it is pending, else the time it
-- was completed or cancelled; parts counts those ever made live.
CREATE TABLE upload (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid           CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  state         ENUM('pending','completed','cancelled') NOT NULL,
  bytes         BIGINT UNSIGNED NOT NULL COMMENT 'As declared',
  name          VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  mime          VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  purpose       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lifetime_s    BIGINT UNSIGNED NOT NULL COMMENT 'Of the file it makes; 0 = never expires',
  parts         INT UNSIGNED NOT NULL DEFAULT 0,
  file_id       BIGINT UNSIGNED NULL     COMMENT 'Row of the file it made',
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  expires       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  sweep_at      BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY upload_pid (workspace_id, user_id, pid),
  KEY upload_sweep (state, sweep_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
