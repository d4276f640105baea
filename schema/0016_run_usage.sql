-- One run of code; model_pid is that of its request in model_usage.
CREATE TABLE run_usage (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  model_pid     CHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  container     CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
  tool          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ms            BIGINT UNSIGNED NOT NULL,
  exit_code     INT NULL,
  error         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  files         INT UNSIGNED NOT NULL,
  bytes         BIGINT UNSIGNED NOT NULL,
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  KEY run_usage_model (model_pid),
  KEY run_usage_created (created)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
