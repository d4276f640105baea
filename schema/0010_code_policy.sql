-- What a workspace may do with code execution.  No row: what the deployment
-- does.  A row replaces all of it; NULL leaves that one to the deployment.
CREATE TABLE code_policy (
  workspace_id    BIGINT UNSIGNED NOT NULL,
  enabled         BOOLEAN NOT NULL,
  executor        ENUM('auto','local','provider') NULL,
  max_iterations  INT UNSIGNED NULL,
  exec_timeout_s  INT UNSIGNED NULL,
  purpose_hint    VARCHAR(2048) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  created         BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  updated         BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (workspace_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
