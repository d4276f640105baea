-- What has been done to this schema, step by step.  A step is begun before its
-- statement is run and applied after it, so that a crash in between shows.
CREATE TABLE migration (
  number   INT UNSIGNED NOT NULL,
  name     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  begun    BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  applied  BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = not known to be done',
  PRIMARY KEY (number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
