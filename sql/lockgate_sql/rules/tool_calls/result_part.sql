create function lockgate.result_part(p_tool_call_id text, p_tool_name text, p_response jsonb)
  returns jsonb
  language sql immutable
as $$
-- One tool result as a part of a message.
select jsonb_build_object(
  'type', 'tool_result', 'toolCallId', p_tool_call_id, 'toolName', p_tool_name) || p_response
$$;
