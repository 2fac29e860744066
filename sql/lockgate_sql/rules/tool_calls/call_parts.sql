create function lockgate.call_parts(p_run lockgate_store.runs, p_step integer)
  returns jsonb
  language sql stable
as $$
-- A step's calls as parts of the assistant's message, under their announced ids.
select coalesce(jsonb_agg(jsonb_build_object(
         'type', 'tool_call', 'toolCallId', c.tool_call_id, 'toolName', c.tool_name,
         'input', c.input) order by c.ordinal), '[]')
  from lockgate_store.tool_calls c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.step = p_step
$$;
