-- A program that calls its caller's tools, between two rounds.  Every round runs
-- it again from its request and the calls answered so far (ptc_call).  The token
-- is stored hashed.  busy_until keeps a second round off while one runs;
-- answered is the SHA-256 of the results that the last round was given and
-- answer what it came to, for a client that asks again after a lost answer.
CREATE TABLE ptc_run (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  token         BINARY(32) NOT NULL COMMENT 'SHA-256',
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  session       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state         ENUM('waiting','running','done') NOT NULL,
  calls         INT UNSIGNED NOT NULL DEFAULT 0,
  pending       INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'The last so many calls',
  result_bytes  BIGINT UNSIGNED NOT NULL DEFAULT 0,
  request       LONGBLOB NOT NULL,
  answered      BINARY(32) NULL,
  answer        LONGBLOB NULL,
  busy_until    BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Unix ms',
  sweep_at      BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY ptc_run_token (token),
  KEY ptc_run_sweep (sweep_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
