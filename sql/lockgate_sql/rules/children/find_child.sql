create function lockgate.find_child(
  p_run lockgate_store.runs,
  p_tool_call_id text,
  p_name text
)
  returns lockgate_store.children
  language sql stable
as $$
-- The child that a call of a run has made, or else the one that has the name it asks for.
select c
  from lockgate_store.children c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and (c.tool_call_id = p_tool_call_id or c.name = p_name)
 order by c.tool_call_id = p_tool_call_id desc
 limit 1
$$;
