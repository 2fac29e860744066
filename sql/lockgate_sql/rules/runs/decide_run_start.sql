create function lockgate.decide_run_start(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene,
  p_finish_current jsonb,
  p_displace_owner text
)
  returns lockgate.entry_decision
  language plpgsql volatile
as $$
-- Decides a store client's run start from what was read under the session's lock; the first that
-- applies. The client has planned, so nothing here interrupts, attaches or waits.
--
--   session_not_found  no such session, or another user's
--   replayed           this very start is there, whatever became of its run
--   rejected           by cause: run_id_conflict, request_key_taken, current_run_changed,
--                      current_run_status_changed, finish_current_invalid, current_run_owned,
--                      session_status_changed
--   invalid_request    the history has fewer messages than are to be kept
--   started
declare
  v_current lockgate_store.runs := p_scene.current;
  v_broken text;
  v_cause text;
begin
  if p_session.session_id is null then
    return row('session_not_found', null, null, null)::lockgate.entry_decision;
  end if;
  if (p_scene.twin).run_id is not null then
    if lockgate.plan_replay(p_scene.twin, p_entry) = 'replayed' then
      return ('replayed', p_scene.twin, null, null)::lockgate.entry_decision;
    end if;
    return lockgate.reject_entry('run_id_conflict', p_entry, p_session, p_scene.twin);
  end if;
  if (p_scene.holder).run_id is not null then
    return lockgate.reject_entry('request_key_taken', p_entry, p_session, p_scene.holder);
  end if;
  v_broken := lockgate.broken_expectation(p_entry.expect, p_session, v_current);
  v_cause := case
    when v_broken in ('current_run_changed', 'current_run_status_changed') then v_broken
    when p_finish_current is not null and not coalesce(
      lockgate.is_live(v_current.status)
      and p_finish_current ->> 'runId' = v_current.run_id::text
      and p_session.terminal_run_id = v_current.run_id
      and p_session.terminal_status = p_finish_current ->> 'status', false)
      then 'finish_current_invalid'
    when p_finish_current is null and v_current.status = 'running'
      and v_current.owner_id is distinct from p_displace_owner
      and lockgate.worker_is_alive(v_current.owner_id, lockgate.now()) then 'current_run_owned'
    else v_broken end;
  if v_cause is not null then
    return lockgate.reject_entry(v_cause, p_entry, p_session, v_current);
  end if;
  if p_scene.keeps_messages > p_session.message_count then
    return row('invalid_request', null, null,
      '{"field": "keepMessages"}'::jsonb)::lockgate.entry_decision;
  end if;
  return ('started', v_current, null, null)::lockgate.entry_decision;
end;
$$;
