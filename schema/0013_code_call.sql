-- One run of code for a model, under the id that its caller was shown, so that
-- a conversation which comes back without the result can be given it again.
-- A call that its caller never saw stands under the first call of his own in
-- the same message.
CREATE TABLE code_call (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid           VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  nth           INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Of several under one id',
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  container     CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
  tool          TINYINT UNSIGNED NOT NULL,
  kind          TINYINT UNSIGNED NOT NULL,
  input         MEDIUMBLOB NOT NULL COMMENT 'JSON text; cut when larger than 256 KiB',
  facts         MEDIUMBLOB NOT NULL COMMENT 'JSON: all of the outcome but its output',
  out_text      MEDIUMBLOB NOT NULL,
  err_text      MEDIUMBLOB NOT NULL,
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  expires       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY code_call_pid (workspace_id, user_id, pid, nth),
  KEY code_call_expires (expires)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
