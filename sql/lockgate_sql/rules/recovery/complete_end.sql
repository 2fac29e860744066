create type lockgate.complete_end_outcome as enum (
  'session_not_found', 'stale', 'ended', 'closed');
create type lockgate.complete_end_result as (
  outcome lockgate.complete_end_outcome, run_id uuid, run_status text);

create function lockgate.complete_end(
  p_session_id text,
  p_acting_user_id text default null,
  p_lock_timeout_ms integer default null,
  p_tenant_id text default ''
)
  returns lockgate.complete_end_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Writes the rest of an end, or of a suspension, that a store client began and left: it writes the
-- session's terminal commit, the run's status and the stream's end apart, and may die in between. A
-- run that had settled settles no second time.
--
-- Locks     session row, run row, stream row, tool-call rows; for a child its parent's session row
-- Writes    sessions; see lockgate.end_run, or lockgate.close_stream
-- Outcomes  first that applies:
--   session_not_found  no such session, or another user's; nothing written
--   stale              nothing is left to write, and no sweep looks for it any more
--   ended              the terminal commit had landed: the run has its status, all else follows
--   closed             the stream is ended, failed or paused, as the run's status says
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_lock_timeout_ms => p_lock_timeout_ms, p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
begin
  if v_session.session_id is null then
    return row('session_not_found', null, null)::lockgate.complete_end_result;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = v_session.current_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     for no key update;
  if lockgate.is_live(v_run.status) and v_session.terminal_run_id = v_run.run_id then
    perform lockgate.end_run(
      v_run, v_session.terminal_status, v_session.output, v_session.error_detail);
    return ('ended', v_run.run_id, v_session.terminal_status)::lockgate.complete_end_result;
  end if;
  if (lockgate.close_stream(p_session_id, lockgate.stream_end(v_run.status), v_run.run_id::text,
      p_tenant_id => p_tenant_id)).outcome = 'closed'
  then
    return ('closed', v_run.run_id, v_run.status)::lockgate.complete_end_result;
  end if;
  if v_session.end_due then
    perform lockgate.clear_end_due(v_run);
  end if;
  return ('stale', v_run.run_id, v_run.status)::lockgate.complete_end_result;
end;
$$;
