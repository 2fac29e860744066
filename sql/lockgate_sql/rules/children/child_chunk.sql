create function lockgate.child_chunk(
  p_run lockgate_store.runs,
  p_child lockgate_store.children
)
  returns jsonb
  language sql volatile
as $$
-- The chunk that tells a parent's readers of a child that begins.
select lockgate.make_chunk(p_run, 'subagent_start', jsonb_strip_nulls(jsonb_build_object(
  'toolCallId', p_child.tool_call_id, 'childAgentType', p_child.agent_type,
  'childSessionId', p_child.child_session_id, 'name', p_child.name)), p_run.step_count + 1)
$$;
