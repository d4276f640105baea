-- Only the SHA-256 of a key is kept, and its last four characters to tell it by.
-- name_space says where a user name asserted under the key is looked up: among
-- the key's own names, or among the workspace's (a key made for its tenant).
-- workspace_name, user_name and disabled repeat what workspace and user say, so
-- that every request finds its caller in one row: names never change, and
-- whoever disables or enables an owner does so here in the same transaction.
CREATE TABLE api_key (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  sha256          BINARY(32) NOT NULL,
  hint            CHAR(4) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id    BIGINT UNSIGNED NOT NULL,
  user_id         BIGINT UNSIGNED NOT NULL,
  workspace_name  VARBINARY(255) NOT NULL DEFAULT '',
  user_name       VARBINARY(255) NOT NULL DEFAULT '',
  role            ENUM('user','workspace_admin','management') NOT NULL,
  name_space      ENUM('key','workspace') NOT NULL,
  label           VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  created         BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  expires         BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = never',
  revoked         BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = in use',
  disabled        BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = owner in use',
  PRIMARY KEY (id),
  UNIQUE KEY api_key_sha256 (sha256),
  KEY api_key_user (user_id),
  KEY api_key_workspace (workspace_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
