create function lockgate.end_run(
  p_run lockgate_store.runs,
  p_status text,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_partial jsonb default null
)
  returns void
  language plpgsql volatile
as $$
-- The one way a running run ends: session, run, stream, pairing and settlement in one commit, and
-- for a child its parent is told. The session and the run are locked. p_partial is what an
-- interrupted reply had said so far.
declare
  v_now timestamptz := lockgate.now();
  v_session lockgate_store.sessions;
  v_message_count integer;
  v_head bigint;
begin
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  v_message_count := v_session.message_count;
  if p_partial is not null then
    v_message_count := lockgate.append_message(p_run, 'assistant', p_partial, v_message_count);
  end if;
  v_message_count := lockgate.pair_calls(p_run, v_message_count);
  update lockgate_store.sessions s
     set status = p_status,
         output = p_output,
         error_detail = p_error_detail,
         terminal_run_id = p_run.run_id,
         terminal_status = p_status,
         end_due = false,
         message_count = v_message_count,
         version = s.version + 1,
         updated_at = v_now
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  v_head := lockgate.end_stream(p_run, p_status, p_output, p_error_detail);
  perform lockgate.set_run_ended(
    p_run => p_run, p_status => p_status, p_now => v_now, p_output => p_output,
    p_error_detail => p_error_detail, p_end_sequence => v_head);
  perform lockgate.record_settlement(p_run, p_status);
  delete from lockgate_store.recoveries c
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id;
  if v_session.parent_session_id is not null then
    perform lockgate.tell_parent(v_session, p_status, p_output, p_error_detail);
  end if;
end;
$$;
