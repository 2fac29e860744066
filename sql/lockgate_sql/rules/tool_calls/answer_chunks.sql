create function lockgate.answer_chunks(p_run lockgate_store.runs, p_previous lockgate_store.runs)
  returns jsonb[]
  language sql volatile
as $$
-- Tells readers, at the start of a run that goes on, from which run, and what came for that one:
-- see lockgate.end_chunks.
select array[lockgate.make_chunk(p_run, 'run_resumed', jsonb_build_object(
         'runId', p_run.run_id, 'previousRunId', p_previous.run_id))] || (
    select array_agg(u.chunk order by c.ordinal, u.place)
      from lockgate_store.tool_calls c,
           unnest(lockgate.end_chunks(p_run, c)) with ordinality u(chunk, place)
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and (c.run_id = p_run.run_id
         or c.run_id = p_previous.run_id and c.step = p_previous.step_count + 1))
$$;
