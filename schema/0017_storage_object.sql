-- What LibreChat's routes know of an object besides its file, whose lc_session
-- and lc_object name it: its place in a run's working directory, of which the
-- file's name is the last component, and whether a run may change it.
CREATE TABLE storage_object (
  session    CHAR(21) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  object     CHAR(21) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  place      VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  read_only  TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (session, object)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
