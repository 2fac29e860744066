create function lockgate.rewind_history(
  p_run lockgate_store.runs,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Cuts a session's history back for a run that starts, and with it the checkpoints that lie in what
-- is cut. Where the cut falls between calls and their results, the results are written again in the
-- name of the run that called, so that no history holds a call without one. Returns the session's
-- message count.
declare
  v_caller lockgate_store.runs := p_run;
  v_results jsonb;
  v_step integer;
begin
  delete from lockgate_store.messages m
   where m.tenant_id = p_run.tenant_id and m.session_id = p_run.session_id
     and m.seq > p_message_count;
  delete from lockgate_store.checkpoints c
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.message_count > p_message_count;
  -- A reply that was cut off may stand between the calls and the cut.
  select m.run_id into v_caller.run_id
    from lockgate_store.messages m
   where m.tenant_id = p_run.tenant_id and m.session_id = p_run.session_id
     and m.seq = p_message_count and m.role = 'assistant';
  -- By the ids in the message: a step that goes over to another run takes its calls along.
  select jsonb_agg(lockgate.result_part(
           c.tool_call_id, c.tool_name, coalesce(c.response, lockgate.not_executed(
             case when c.approved then 'server' else c.kind end)))
           order by c.ordinal), max(m.step)
    into v_results, v_step
    from lockgate_store.messages m
   cross join lateral jsonb_array_elements(m.content) p(part)
    join lockgate_store.tool_calls c
      on c.tenant_id = m.tenant_id and c.session_id = m.session_id
     and c.tool_call_id = p.part ->> 'toolCallId'
   where m.tenant_id = p_run.tenant_id and m.session_id = p_run.session_id
     and m.run_id = v_caller.run_id and m.role = 'assistant'
     and p.part ->> 'type' = 'tool_call'
     and not exists (
       select from lockgate_store.messages n
        where n.tenant_id = m.tenant_id and n.session_id = m.session_id and n.seq > m.seq
          and n.role = 'tool'
          and n.content @> jsonb_build_array(jsonb_build_object('toolCallId', c.tool_call_id)));
  if v_results is null then
    return p_message_count;
  end if;
  return lockgate.append_message(v_caller, 'tool', v_results, p_message_count, v_step);
end;
$$;
