-- A container's id alone tells whether it is anybody's.
CREATE INDEX container_id ON container (pid, state, expires);
