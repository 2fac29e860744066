create function lockgate.append_messages(
  p_run lockgate_store.runs,
  p_messages jsonb,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Adds an entry's user messages to the history; returns the new count.
begin
  insert into lockgate_store.messages (
      tenant_id, session_id, seq, role, content, run_id, client_id, created_at)
    select p_run.tenant_id, p_run.session_id, p_message_count + m.ordinality, 'user',
           m.value -> 'content', p_run.run_id, m.value ->> 'id', p_run.started_at
      from jsonb_array_elements(p_messages) with ordinality m;
  return p_message_count + jsonb_array_length(p_messages);
end;
$$;
