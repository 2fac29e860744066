create function lockgate.lock_attempt(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_tenant_id text
)
  returns lockgate_store.runs
  language plpgsql volatile
as $$
-- Takes the session's lock and the run's, and returns the run if this attempt may still write for
-- it: the run is running and nobody else was given it. An empty row is the fence.
--
-- Locks     session row, then the run row
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
begin
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     and r.status = 'running' and r.attempt = p_attempt
     for no key update;
  return v_run;
end;
$$;
