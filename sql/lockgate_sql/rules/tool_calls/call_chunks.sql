create function lockgate.call_chunks(p_run lockgate_store.runs, p_step integer)
  returns jsonb[]
  language sql volatile
as $$
-- A step's calls that the drive goes on with, as tool_start chunks under their announced ids. What
-- a client is to answer is announced by the commit that makes it answerable.
select coalesce(array_agg(lockgate.make_chunk(p_run, 'tool_start', jsonb_build_object(
         'toolCallId', c.tool_call_id, 'toolName', c.tool_name, 'arguments', c.input), p_step)
         order by c.ordinal), '{}')
  from lockgate_store.tool_calls c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.step = p_step and c.kind in ('server', 'subagent')
$$;
