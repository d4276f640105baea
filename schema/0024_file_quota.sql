-- What a user's live files hold is added up from this index alone.
ALTER TABLE file
  ADD KEY file_quota (workspace_id, user_id, state, sweep_at, bytes);
