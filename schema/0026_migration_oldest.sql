-- Which programs may go on once a step has been begun: those that know at least
-- the step "oldest".  A step says so of itself in a line "-- oldest N" as below;
-- without it only programs that know the step itself may.
-- oldest 26
ALTER TABLE migration
  ADD COLUMN oldest INT UNSIGNED NULL
    COMMENT 'programs that know this step may go on; NULL = number';
