-- An answer of the Responses dialect that its caller may name later: body is
-- the object as it was sent, input the items it answered, as a JSON array.
CREATE TABLE response (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid           CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  previous      CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
  body          LONGBLOB NOT NULL,
  input         LONGBLOB NOT NULL,
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  expires       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY response_pid (workspace_id, user_id, pid),
  KEY response_expires (expires)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
