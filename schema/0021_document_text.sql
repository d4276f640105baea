-- What a document says, read once for models that cannot read it, by the
-- SHA-256 of its bytes and the way it was read (the converter and its limits, or
-- the model that described it).  Only a cache: a row may go at any time.
CREATE TABLE document_text (
  sha256   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  way      CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'SHA-256',
  said     MEDIUMBLOB NOT NULL COMMENT 'UTF-8',
  created  BIGINT UNSIGNED NOT NULL COMMENT 'Unix ms',
  PRIMARY KEY (sha256, way),
  KEY document_text_created (created)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
