create function lockgate.decide_entry(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene
)
  returns lockgate.entry_decision
  language plpgsql stable
as $$
-- Decides an entry from what was read under the session's lock; the first line that applies.
--
--   session_not_found          another user's session answers like none; resume and retry need one
--   replayed, rejected         run_id exists: the same start, or another one (run_id_conflict)
--   request_key_conflict …     the key's run decides, before any concurrency policy
--   already_running            a run executes, and policy or plan does not let it be stopped
--   agent_type_mismatch, identity_mismatch   what the session was made with decides
--   not_resumable              the session does not take this drive (lockgate.drive_admissions)
--   invalid_request            the checkpoint is none of this session's
--   rejected                   what the planner read no longer holds
--   interrupting               the executing run is asked to stop; call again when it has
--   started, resumed           nothing is in the way
declare
  v_current lockgate_store.runs := p_scene.current;
  v_verdict lockgate.entry_outcome := 'started'::lockgate.entry_outcome;
  v_refusal lockgate.entry_decision;
  v_field text;
  v_cause text;
begin
  if p_entry.acting_user_id is not null and p_session.session_id is not null
     and p_session.user_id is distinct from p_entry.acting_user_id
     or p_session.session_id is null and p_entry.drive <> 'start' then
    return row('session_not_found', null, null, null)::lockgate.entry_decision;
  end if;
  if (p_scene.twin).run_id is not null then
    if lockgate.plan_replay(p_scene.twin, p_entry) = 'replayed' then
      return ('replayed', p_scene.twin, null, null)::lockgate.entry_decision;
    end if;
    return lockgate.reject_entry('run_id_conflict', p_entry, p_session, p_scene.twin);
  end if;
  if (p_scene.holder).run_id is not null then
    return (lockgate.plan_keyed_entry(
      p_scene.holder, p_entry.request_digest, p_session.current_run_id), p_scene.holder, null,
      null)::lockgate.entry_decision;
  end if;

  if p_entry.expect is not null then
    v_cause := lockgate.broken_expectation(p_entry.expect, p_session, v_current);
  end if;
  if p_scene.executes then
    select e.verdict::lockgate.entry_outcome into v_verdict
      from lockgate.entry_policies e
     where e.policy = p_entry.concurrent_entry;
    if v_verdict = 'already_running' or v_cause = 'current_run_changed' then
      return ('already_running', v_current, null, null)::lockgate.entry_decision;
    end if;
  end if;
  if p_session.agent_type <> p_entry.agent_type then
    return row('agent_type_mismatch', null, null, null)::lockgate.entry_decision;
  end if;
  if p_entry.drive <> 'start' then
    v_refusal := lockgate.refuse_drive(p_entry, p_session, p_scene);
    if v_refusal.outcome is not null then
      return v_refusal;
    end if;
    v_verdict := case when v_verdict = 'started' then 'resumed' else v_verdict end;
  else
    v_field := lockgate.changed_identity_field(p_entry, p_session);
    if v_field is not null then
      return row('identity_mismatch', null, null,
        jsonb_build_object('field', v_field))::lockgate.entry_decision;
    end if;
  end if;
  if v_cause is not null then
    return lockgate.reject_entry(v_cause, p_entry, p_session, v_current);
  end if;
  return (v_verdict, v_current, null, null)::lockgate.entry_decision;
end;
$$;
