create type lockgate.commit_terminal_outcome as enum (
  'invalid_request', 'session_not_found', 'fenced', 'refused', 'unchanged', 'written');
create type lockgate.commit_terminal_result as (
  outcome lockgate.commit_terminal_outcome, session_status text);

create function lockgate.commit_terminal(
  p_session_id text,
  p_run_id uuid,
  p_status text,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.commit_terminal_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Writes how a session's current run ended, for a store client that writes the parts of an end
-- apart: the session first, then the run's status, then the stream. From here on the run is over:
-- its drive is fenced, and the next entry, or a sweep, ends it with this status.
-- lockgate.finish_run does it all at once.
--
-- Locks     session row, run row, stream row
-- Writes    sessions; the fence of runs and streams
-- Outcomes  first that applies:
--   invalid_request    no run is named, or the status is not completed, failed or interrupted;
--                      nothing written
--   session_not_found  no such session, or another user's; nothing written
--   fenced             another run is current; nothing written
--   refused            another end is recorded; nothing written
--   unchanged          this end is recorded; nothing written
--   written
-- Raises    LG001
declare
  v_session lockgate_store.sessions;
  v_run lockgate_store.runs;
begin
  if p_run_id is null or p_status is null
     or p_status not in ('completed', 'failed', 'interrupted') then
    return row('invalid_request', null)::lockgate.commit_terminal_result;
  end if;
  v_session := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  if v_session.session_id is null then
    return row('session_not_found', null)::lockgate.commit_terminal_result;
  end if;
  if v_session.current_run_id is distinct from p_run_id then
    return ('fenced', v_session.status)::lockgate.commit_terminal_result;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_run_id
     for no key update;
  if v_session.terminal_run_id = p_run_id then
    return (case when v_session.terminal_status = p_status then 'unchanged' else 'refused' end,
      v_session.status)::lockgate.commit_terminal_result;
  end if;
  if not lockgate.is_live(v_run.status) and v_run.status <> p_status then
    return ('refused', v_session.status)::lockgate.commit_terminal_result;
  end if;
  perform lockgate.fence_run(v_run);
  update lockgate_store.sessions s
     set status = p_status,
         output = p_output,
         error_detail = p_error_detail,
         terminal_run_id = p_run_id,
         terminal_status = p_status,
         end_due = true,
         version = s.version + 1,
         updated_at = lockgate.now()
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  return ('written', p_status)::lockgate.commit_terminal_result;
end;
$$;
