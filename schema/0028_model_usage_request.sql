-- The id of the request, as its answer and the log have it.
-- oldest 26
ALTER TABLE model_usage
  ADD COLUMN request VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'X-Request-Id; NULL: from before this column';
