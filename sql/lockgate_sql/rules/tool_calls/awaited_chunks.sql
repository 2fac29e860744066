create function lockgate.awaited_chunks(p_run lockgate_store.runs, p_step integer)
  returns jsonb[]
  language sql volatile
as $$
-- Announces what a suspending run waits for: its client calls and its approvals, in their order.
select coalesce(array_agg(
         case when c.kind = 'approval' then lockgate.make_chunk(
           p_run, 'tool_approval_request', jsonb_build_object(
             'toolCallId', c.tool_call_id, 'toolName', c.tool_name, 'approvalId', c.approval_id,
             'input', c.input), p_step)
         else lockgate.make_chunk(p_run, 'tool_start', jsonb_build_object(
           'toolCallId', c.tool_call_id, 'toolName', c.tool_name, 'arguments', c.input), p_step)
         end order by c.ordinal), '{}')
  from lockgate_store.tool_calls c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.step = p_step and c.status = 'pending'
   and c.kind in ('client', 'approval')
$$;
