create function lockgate.settle_replaced_run(
  p_run lockgate_store.runs,
  p_status text,
  p_by lockgate_store.runs,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Closes what a replaced run leaves behind, in the commit that starts the next one: its open
-- calls are paired, its duty is recorded, and its readers are told who follows. Returns the
-- session's message count.
begin
  perform lockgate.record_settlement(p_run, p_status);
  if p_status = 'superseded' then
    perform lockgate.write_chunks(p_run, array[lockgate.make_chunk(
      p_run, 'run_superseded', jsonb_build_object('runId', p_run.run_id, 'byRunId', p_by.run_id))]);
  end if;
  return lockgate.pair_calls(p_run, 'client_tool_abandoned', p_message_count);
end;
$$;
