create function lockgate.append_message(
  p_run lockgate_store.runs,
  p_role text,
  p_content jsonb,
  p_message_count integer,
  p_step integer default 0
)
  returns integer
  language plpgsql volatile
as $$
-- Adds one message to the history after the first p_message_count; returns the new count.
begin
  insert into lockgate_store.messages (
      tenant_id, session_id, seq, role, content, run_id, step, created_at)
    values (
      p_run.tenant_id, p_run.session_id, p_message_count + 1, p_role, p_content, p_run.run_id,
      p_step, lockgate.now());
  return p_message_count + 1;
end;
$$;
