-- A call that such a program has made, and its result once there is one.  input
-- is as the program wrote it; input_hash is that of its canonical form.
CREATE TABLE ptc_call (
  run_id      BIGINT UNSIGNED NOT NULL,
  number      INT UNSIGNED NOT NULL,
  tool        VARBINARY(1024) NOT NULL,
  input_hash  BINARY(32) NOT NULL,
  input       LONGBLOB NOT NULL,
  result      LONGBLOB NULL,
  is_error    TINYINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
