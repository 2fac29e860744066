create function lockgate.list_calls(p_run lockgate_store.runs)
  returns jsonb
  language sql stable
as $$
-- A run's calls whose results are in no message yet, in their order, as one JSON list of
-- {step, ordinal, toolCallId, toolName, kind, input, status, approvalId?, approved?,
-- begunAt?, response?}.
select coalesce(jsonb_agg(jsonb_build_object(
         'step', c.step, 'ordinal', c.ordinal, 'toolCallId', c.tool_call_id,
         'toolName', c.tool_name, 'kind', c.kind, 'input', c.input, 'status', c.status)
         || jsonb_strip_nulls(jsonb_build_object(
           'approvalId', c.approval_id, 'approved', c.approved, 'begunAt', c.begun_at))
         || case when c.response is null then '{}'
              else jsonb_build_object('response', c.response) end
         order by c.step, c.ordinal), '[]')
  from lockgate_store.tool_calls c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.status in ('pending', 'answered')
$$;
