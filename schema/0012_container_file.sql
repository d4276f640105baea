-- Which file lies where in a container; pid is the file's.  A path that is
-- written again names the newer file.
CREATE TABLE container_file (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  container_row  BIGINT UNSIGNED NOT NULL,
  pid            VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  path           VARBINARY(1024) NOT NULL COMMENT 'Below /mnt/data',
  source         ENUM('user','assistant') NOT NULL,
  created        BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (id),
  UNIQUE KEY container_file_path (container_row, path),
  UNIQUE KEY container_file_pid (container_row, pid),
  KEY container_file_list (container_row, created, pid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
