-- A request key is a column of its run, so it exists exactly when the run does: there is no
-- separate "in progress" record that a crash could leave behind.
--
-- This index is only the backstop. The rule is the read of the holder under the session's row
-- lock; the run insert says `on conflict do nothing`, reads again and answers by the holder, so
-- that nobody ever sees the violation.
create unique index if not exists runs_request_key_once
  on lockgate_store.runs (tenant_id, session_id, request_key)
  where request_key is not null;
