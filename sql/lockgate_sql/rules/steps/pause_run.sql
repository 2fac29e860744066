create function lockgate.pause_run(
  p_run lockgate_store.runs,
  p_step integer,
  p_state jsonb,
  p_chunks jsonb[]
)
  returns text
  language plpgsql volatile
as $$
-- Writes a suspension: the run's status, which it returns, its session's and its stream's, the
-- announcement of what is awaited, and the settlement. The session and the run are locked.
--
-- Raises    LG002 for another step than the open one, with a server call unanswered, or with a
--           sub-agent's call that has no child: nobody would ever answer it
declare
  v_waits_for text[] := lockgate.awaited_calls(p_run);
  v_status text := case when v_waits_for = '{}' then 'suspended_awaiting_children'
    else 'suspended_client_tool' end;
begin
  perform lockgate.require(
    p_step = p_run.step_count + 1 and lockgate.waits_for_others(p_run),
    'a run suspends in its open step, when all that is ours to run or to start has been',
    jsonb_build_object('runId', p_run.run_id, 'step', p_step, 'stepCount', p_run.step_count));
  perform lockgate.write_chunks(
    p_run,
    p_chunks || lockgate.awaited_chunks(p_run, p_step) || lockgate.make_chunk(
      p_run, 'run_paused', jsonb_build_object(
        'runId', p_run.run_id, 'status', v_status, 'toolCallIds', to_jsonb(v_waits_for),
        'children', lockgate.awaited_children(p_run)), p_step),
    p_commits => true);
  perform lockgate.set_run_suspended(p_run, v_status, p_state);
  return v_status;
end;
$$;
