create function lockgate.end_chunks(p_run lockgate_store.runs, p_call lockgate_store.tool_calls)
  returns jsonb[]
  language sql volatile
as $$
-- Tells readers of an answer that no drive has given: a tool_end, and before that of the call that
-- made a child its subagent_end. Null where there is none, or where a drive has answered a
-- sub-agent's call itself: that answer has a code or a reason, and is told by its own commit.
select array_remove(array[(
         select lockgate.make_chunk(p_run, 'subagent_end', jsonb_strip_nulls(jsonb_build_object(
                  'toolCallId', p_call.tool_call_id, 'childSessionId', k.child_session_id,
                  'status', k.status, 'error', k.error_detail ->> 'message')))
           from lockgate_store.children k
          where k.tenant_id = p_call.tenant_id and k.session_id = p_call.session_id
            and k.tool_call_id = p_call.tool_call_id),
         lockgate.make_chunk(p_run, 'tool_end',
           jsonb_build_object('toolCallId', p_call.tool_call_id) || p_call.response)], null)
 where p_call.kind <> 'server' and p_call.response is not null
   and not (p_call.kind = 'subagent' and p_call.response ?| '{code,reason}')
$$;
