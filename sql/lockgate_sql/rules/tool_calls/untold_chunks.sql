create function lockgate.untold_chunks(p_run lockgate_store.runs, p_step integer)
  returns jsonb[]
  language sql volatile
as $$
-- Tells readers of the children that ended while their parent's run was running, where its step is
-- closed without a suspension: by an attempt that found the answers there. Of a step that a run has
-- taken over it was told when that run began; the reply of such a step is another run's.
select coalesce(array_agg(u.chunk order by c.ordinal, u.place), '{}')
  from lockgate_store.tool_calls c,
       unnest(lockgate.end_chunks(p_run, c)) with ordinality u(chunk, place)
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.step = p_step and c.kind = 'subagent'
   and exists (
     select from lockgate_store.messages m
      where m.tenant_id = p_run.tenant_id and m.session_id = p_run.session_id
        and m.run_id = p_run.run_id and m.step = p_step and m.role = 'assistant')
$$;
