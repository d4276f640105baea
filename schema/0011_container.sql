-- A container: a workspace in a sandbox that outlives the request it was made
-- for.  The row is the truth and session, if any, a cache of it that may have
-- died.  Whoever works in it holds lease until lease_until, and renews that;
-- both are 0 when it is idle.  expires is moved by each use, never past ends.
CREATE TABLE container (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  pid           CHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  state         ENUM('live','dead') NOT NULL,
  name          VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  memory        VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  idle_s        INT UNSIGNED NOT NULL,
  session       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
  lease         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  lease_until   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'Unix ms',
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  last_active   BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  expires       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  ends          BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY container_pid (workspace_id, user_id, pid),
  KEY container_list (workspace_id, user_id, state, created, pid),
  KEY container_sweep (state, expires),
  KEY container_session (session, last_active)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
