-- A run that its client may cancel by a request id of its own.  sandbox is the
-- session to be ended; cancelled may be there before the request is.
CREATE TABLE run_request (
  request       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  state         ENUM('running','done','cancelled') NOT NULL,
  sandbox       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  sweep_at      BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (request),
  KEY run_request_sweep (sweep_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
