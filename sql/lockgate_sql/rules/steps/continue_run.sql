create function lockgate.continue_run(p_run lockgate_store.runs)
  returns uuid
  language plpgsql volatile
as $$
-- Starts the run that goes on with a suspended one, if that is still the session's current run and
-- everything it waits for has come; returns its id, or null. The session is locked, so of two last
-- answers at once one starts it.
declare
  v_session lockgate_store.sessions;
  v_entry lockgate.entry;
  v_scene lockgate.entry_scene;
begin
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  if v_session.current_run_id <> p_run.run_id or exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status = 'pending')
  then
    return null;
  end if;
  v_entry.drive := 'continue';
  v_entry.tenant_id := p_run.tenant_id;
  v_entry.session_id := p_run.session_id;
  v_entry.session_status := 'active';
  v_entry.run_id := gen_random_uuid();
  v_scene := lockgate.read_scene(v_entry, v_session);
  if not lockgate.is_continued(v_entry, v_scene) then
    return null;
  end if;
  return (lockgate.begin_run(v_entry, v_session, v_scene, 'resumed')).run_id;
end;
$$;
