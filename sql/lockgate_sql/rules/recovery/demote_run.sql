create function lockgate.demote_run(p_run lockgate_store.runs)
  returns text
  language plpgsql volatile
as $$
-- Pauses a run that nothing executes, where lost runs are not to go on by themselves, and returns
-- its status: a resume goes on with it. One that only waits for others is suspended as its drive
-- would have done it, so that they can answer. The session and the run are locked.
begin
  if lockgate.waits_for_others(p_run) then
    return lockgate.pause_run(p_run, p_run.step_count + 1, null, '{}');
  end if;
  perform lockgate.write_chunks(p_run, array[lockgate.make_chunk(p_run, 'run_paused',
    jsonb_build_object('runId', p_run.run_id, 'status', 'suspended_step_partial',
      'toolCallIds', '[]'::jsonb, 'children', lockgate.awaited_children(p_run)))]);
  perform lockgate.set_run_suspended(p_run, 'suspended_step_partial');
  return 'suspended_step_partial';
end;
$$;
