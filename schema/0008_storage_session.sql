-- To whom a LibreChat storage session belongs: bound once, when it is made, and
-- compared column by column.  key_id is the name space as in user, user_id 0
-- where everybody in it may share, version '' where the kind has none.
CREATE TABLE storage_session (
  session       CHAR(21) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  key_id        BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  kind          ENUM('user','agent','skill','entity') NOT NULL,
  resource_id   VARBINARY(255) NOT NULL,
  version       VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  last_used     BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (session),
  KEY storage_session_used (last_used)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
