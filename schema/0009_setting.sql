-- Settings that are changed while the programs run; each overrides the one of
-- the same name in the configuration.
CREATE TABLE setting (
  name     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  value    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  updated  BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
