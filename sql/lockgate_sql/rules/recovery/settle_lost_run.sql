create function lockgate.settle_lost_run(
  p_session lockgate_store.sessions,
  p_run lockgate_store.runs,
  p_workflow_status text
)
  returns text
  language plpgsql volatile
as $$
-- Writes what a run that nothing executes had come to by itself, and returns its status; null where
-- it had come to nothing, and is to go on. The first that applies:
--
--   its terminal commit landed    a store client died after it: that end
--   its suspension landed         the session is paused and the run waits only for others
--   cancelled from outside        an abort
--   a stop stands on it           that stop
declare
  v_status text;
begin
  if p_session.terminal_run_id = p_run.run_id then
    perform lockgate.end_run(
      p_run, p_session.terminal_status, p_session.output, p_session.error_detail);
    return p_session.terminal_status;
  end if;
  if p_session.status = 'paused' and lockgate.waits_for_others(p_run) then
    v_status := lockgate.pause_run(p_run, p_run.step_count + 1, null, '{}');
    return case when lockgate.continue_run(p_run) is null then v_status else 'superseded' end;
  end if;
  if p_workflow_status = 'CANCELLED' and p_run.stop_kind is distinct from 'abort' then
    perform lockgate.end_run(p_run, 'failed',
      p_error_detail => lockgate.cancelled_detail('The workflow was cancelled'));
    return 'failed';
  end if;
  if p_run.stop_kind is not null then
    return lockgate.end_stopped_run(p_run);
  end if;
  return null;
end;
$$;
