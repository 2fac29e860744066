create function lockgate.record_remote_child(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_tool_call_id text,
  p_agent_type text,
  p_child_session_id text,
  p_mode text default 'subagent',
  p_name text default null,
  p_chunks jsonb[] default '{}',
  p_usage jsonb default null,
  p_tenant_id text default ''
)
  returns lockgate.start_child_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Records a child that another host is about to be asked to start, before it is asked: whoever
-- comes back to the call after a crash finds the id and asks that host how it stands. The caller
-- chooses the id; child_run_id is null, since the run is not ours.
--
-- Locks     session row, run row, stream row
-- Writes    children, streams, stream_chunks, usage
-- Outcomes  first that applies:
--   fenced      the attempt is over; nothing written
--   repeated    the call has its child; nothing written
--   name_taken  another companion has that name; nothing written
--   started     recorded: the host may be asked
-- Raises    LG001; LG002 for a call that is not open, or an id that another child has
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_child lockgate_store.children;
  v_head bigint;
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null, null, null)::lockgate.start_child_result;
  end if;
  v_child := lockgate.find_child(v_run, p_tool_call_id, p_name);
  if v_child.session_id is not null then
    return lockgate.answer_existing_child(v_child, v_run, p_tool_call_id);
  end if;
  perform lockgate.require(p_child_session_id is not null, 'a remote child has an id',
    jsonb_build_object('toolCallId', p_tool_call_id));
  v_child := lockgate.insert_child(
    v_run, p_tool_call_id, p_agent_type, p_mode, p_name, p_child_session_id);
  perform lockgate.record_usage(v_run, v_run.step_count + 1, p_usage);
  v_head := lockgate.write_chunks(
    v_run, p_chunks || lockgate.child_chunk(v_run, v_child), p_commits => true);
  return ('started', v_child.child_session_id, null, v_child.status, v_head,
    v_run.stop_kind)::lockgate.start_child_result;
end;
$$;
