-- The mark that the root of the file store bears in a file of its own: where it
-- is missing or another one, that directory is not this schema's store (its
-- filesystem is not mounted, say), and nothing is written there or swept.
CREATE TABLE store (
  id       TINYINT UNSIGNED NOT NULL COMMENT 'Always 1',
  mark     CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created  BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
