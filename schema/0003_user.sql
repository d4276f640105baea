-- key_id 0 is the workspace's own name space; any other is that of the key under
-- which a caller asserted the name.  turn is counted up by whoever must have the
-- user's quota to himself for the length of a transaction.
CREATE TABLE user (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  workspace_id  BIGINT UNSIGNED NOT NULL,
  key_id        BIGINT UNSIGNED NOT NULL DEFAULT 0,
  name          VARBINARY(255) NOT NULL,
  turn          BIGINT UNSIGNED NOT NULL DEFAULT 0,
  created       BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  disabled      BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = in use',
  PRIMARY KEY (id),
  UNIQUE KEY user_name (workspace_id, key_id, name),
  KEY user_by_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
