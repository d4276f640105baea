-- Names are UTF-8 kept as bytes: no two of them may fold or pad into one.
CREATE TABLE workspace (
  id        BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name      VARBINARY(255) NOT NULL,
  tenant    VARBINARY(255) NULL COMMENT 'The JWT name space that shares it',
  created   BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  disabled  BIGINT UNSIGNED NULL     COMMENT 'Unix ms; NULL = in use',
  PRIMARY KEY (id),
  UNIQUE KEY workspace_name (name),
  UNIQUE KEY workspace_tenant (tenant)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
