create type lockgate.start_child_outcome as enum ('fenced', 'repeated', 'name_taken', 'started');
create type lockgate.start_child_result as (
  outcome lockgate.start_child_outcome,
  child_session_id text,
  child_run_id uuid,
  status text,
  head_sequence bigint,
  stop_kind text
);

create function lockgate.start_child(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_tool_call_id text,
  p_agent_type text,
  p_input jsonb,
  p_mode text default 'subagent',
  p_name text default null,
  p_chunks jsonb[] default '{}',
  p_usage jsonb default null,
  p_tenant_id text default ''
)
  returns lockgate.start_child_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Makes a child of a session for one of its calls and starts the child's run, in one commit: the
-- child carries its parent's user, tags and metadata. A repeat finds the child that is there.
--
-- Locks     the parent's session row, run row, stream row; then the child's, which nobody knows yet
-- Writes    children, streams, stream_chunks, usage; for the child see lockgate.begin_run
-- Outcomes  first that applies:
--   fenced      the attempt is over; nothing written
--   repeated    the call has its child; nothing written
--   name_taken  another companion has that name; nothing written
--   started
-- Raises    LG001; LG002 for a call that is not open, or an input or agent type not of the form
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_child lockgate_store.children;
  v_entry lockgate.entry_result;
  v_head bigint;
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null, null, null)::lockgate.start_child_result;
  end if;
  v_child := lockgate.find_child(v_run, p_tool_call_id, p_name);
  if v_child.session_id is not null then
    return lockgate.answer_existing_child(v_child, v_run, p_tool_call_id);
  end if;
  v_child := lockgate.insert_child(v_run, p_tool_call_id, p_agent_type, p_mode, p_name);
  v_entry := lockgate.enter_child(v_run, v_child, p_input);
  perform lockgate.record_usage(v_run, v_run.step_count + 1, p_usage);
  v_head := lockgate.write_chunks(
    v_run, p_chunks || lockgate.child_chunk(v_run, v_child), p_commits => true);
  return ('started', v_child.child_session_id, v_entry.run_id, v_child.status, v_head,
    v_run.stop_kind)::lockgate.start_child_result;
end;
$$;
