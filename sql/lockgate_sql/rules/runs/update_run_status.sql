create type lockgate.update_run_status_result as (
  outcome lockgate.update_run_status_outcome, run_status text);

create function lockgate.update_run_status(
  p_session_id text,
  p_run_id uuid,
  p_status text,
  p_completed_at timestamptz default null,
  p_end_sequence bigint default null,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.update_run_status_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Moves a run to a status, for a store client that drives runs itself. A status at which nothing
-- executes fences the drive and records its settlement in the same commit, a terminal one pairs the
-- calls that are open, and the session follows unless its terminal commit has spoken. A live status
-- never has a completion time, a terminal one defaults it to now, and output and error detail to
-- what the terminal commit said; an end sequence is stored only as it is passed.
--
-- Locks     session row, run row, stream row, tool-call rows; for a child its parent's session row
-- Writes    runs, sessions, streams, settlements, deliveries; for a terminal status also
--           tool_calls, messages and recoveries, and for a child see lockgate.tell_parent
-- Outcomes  first that applies:
--   invalid_request  no such status; nothing written
--   not_found        no such run in this session, or another user's session; nothing written
--   superseded       the run has ended otherwise, or its terminal commit says so; nothing written
--   unchanged        the run has ended so; nothing written
--   written
-- Raises    LG001
declare
  v_session lockgate_store.sessions;
  v_run lockgate_store.runs;
  v_outcome lockgate.update_run_status_outcome;
begin
  if p_status is null or p_status not in (
    'running', 'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial',
    'completed', 'failed', 'interrupted', 'superseded')
  then
    return row('invalid_request', null)::lockgate.update_run_status_result;
  end if;
  v_session := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     for no key update;
  if not found then
    return row('not_found', null)::lockgate.update_run_status_result;
  end if;
  v_outcome := lockgate.decide_run_transition(v_run.status,
    case when v_session.terminal_run_id = p_run_id then v_session.terminal_status end, p_status);
  if v_outcome <> 'written' then
    return (v_outcome, v_run.status)::lockgate.update_run_status_result;
  end if;
  if lockgate.is_live(p_status) then
    perform lockgate.set_run_live(v_run, p_status, p_end_sequence);
  else
    perform lockgate.set_run_ended(v_run, p_status, coalesce(p_completed_at, lockgate.now()),
      coalesce(p_output, v_session.output), coalesce(p_error_detail, v_session.error_detail),
      p_end_sequence);
  end if;
  perform lockgate.follow_run(v_session, v_run, p_status);
  return ('written', p_status)::lockgate.update_run_status_result;
end;
$$;
