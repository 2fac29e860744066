create type lockgate.request_stop_outcome as enum (
  'session_not_found', 'paused', 'not_running', 'stopping');
create type lockgate.request_stop_result as (
  outcome lockgate.request_stop_outcome, run_id uuid, run_status text);

create function lockgate.request_stop(
  p_session_id text,
  p_kind text,
  p_run_id uuid,
  p_reason text,
  p_include_suspended boolean,
  p_acting_user_id text,
  p_tenant_id text
)
  returns lockgate.request_stop_result
  language plpgsql volatile
as $$
-- Records a stop on the run it names, or on the run that is live now, and answers at once: the run
-- ends at its next boundary. Repeating it writes nothing; an abort outranks an interrupt. A stop
-- belongs to its run alone, so a late one never touches another. The next run of a suspended one
-- that goes on with it honours a stop that stands there; only p_include_suspended records one.
--
-- Outcomes  first that applies:
--   session_not_found  no such session, or another user's; nothing written
--   paused             the run is suspended; nothing written
--   not_running        the run is over, or there is none; nothing written
--   stopping           the stop stands
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
begin
  if v_session.session_id is null then
    return row('session_not_found', null, null)::lockgate.request_stop_result;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = coalesce(p_run_id, v_session.current_run_id)
     and r.tenant_id = p_tenant_id and r.session_id = p_session_id
     for no key update;
  if v_run.run_id is null or not lockgate.is_live(v_run.status)
     or v_session.terminal_run_id = v_run.run_id then
    return ('not_running', coalesce(v_run.run_id, p_run_id), v_run.status)
      ::lockgate.request_stop_result;
  end if;
  if v_run.status <> 'running' and not p_include_suspended then
    return ('paused', v_run.run_id, v_run.status)::lockgate.request_stop_result;
  end if;
  perform lockgate.record_stop(v_run, p_kind, left(p_reason, 256));
  return ('stopping', v_run.run_id, v_run.status)::lockgate.request_stop_result;
end;
$$;
