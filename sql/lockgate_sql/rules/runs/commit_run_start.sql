create function lockgate.commit_run_start(
  p_session_id text,
  p_run_id uuid,
  p_drive text,
  p_session_status text,
  p_expect jsonb,
  p_messages jsonb default null,
  p_keep_messages integer default null,
  p_state jsonb default null,
  p_request_key text default null,
  p_request_digest text default null,
  p_finish_current jsonb default null,
  p_displace_owner text default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.entry_result
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '30s'
as $$
-- Starts a run as a store client has planned it: every expectation is required, and nothing is
-- written unless all of them hold. The session's own agent type is the run's.
--
-- p_expect {currentRunId, currentRunStatus, sessionStatus} is what one read of the plan saw.
-- p_finish_current {runId, status} says that the current run's terminal commit has landed with that
-- status: the run is then ended with it, and otherwise it is superseded. p_displace_owner is a
-- worker that the caller knows to be gone, or is.
--
-- Locks     session row, run rows, stream row, tool-call rows; DBOS's rows last
-- Writes    see lockgate.begin_run
-- Outcomes  see lockgate.decide_run_start; invalid_request names the field
-- Raises    LG001; LG003 when rows come and go under our eyes for ever
declare
  v_entry lockgate.entry := row(p_drive, p_tenant_id, p_session_id, null, p_acting_user_id, null,
    null, null, null, null, lockgate.read_message(p_messages), nullif(p_state, 'null'),
    p_session_status, null, p_request_key, p_request_digest, p_run_id, true, null, 'reject',
    p_expect, null, null)::lockgate.entry;
  v_session lockgate_store.sessions;
  v_scene lockgate.entry_scene;
  v_decision lockgate.entry_decision;
  v_answer lockgate.entry_result;
begin
  v_entry.bad_field := lockgate.bad_run_start_field(
    v_entry, nullif(nullif(p_messages, '[]'), 'null'), p_keep_messages, p_finish_current);
  if v_entry.bad_field is not null then
    return lockgate.entry_answer(v_entry, row('invalid_request', null, null,
      jsonb_build_object('field', v_entry.bad_field))::lockgate.entry_decision);
  end if;
  v_entry.start_digest := lockgate.run_start_digest(v_entry, p_keep_messages);
  for v_try in 1..5 loop
    v_session := lockgate.lock_session(
      p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
      p_tenant_id => p_tenant_id);
    v_scene := lockgate.read_scene(v_entry, v_session);
    v_scene.current_ends := coalesce(p_finish_current ->> 'status', 'superseded');
    v_scene.keeps_messages := p_keep_messages;
    v_decision := lockgate.decide_run_start(
      v_entry, v_session, v_scene, p_finish_current, p_displace_owner);
    if v_decision.outcome <> 'started' then
      return lockgate.entry_answer(v_entry, v_decision);
    end if;
    v_answer := lockgate.begin_run(v_entry, v_session, v_scene, 'started');
    if v_answer.outcome is not null then
      return v_answer;
    end if;
  end loop;
  raise sqlstate 'LG003' using message = 'a run that stands in the way comes and goes without end';
end;
$$;
