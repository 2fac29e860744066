create function lockgate.answer_existing_child(
  p_child lockgate_store.children,
  p_run lockgate_store.runs,
  p_tool_call_id text
)
  returns lockgate.start_child_result
  language sql stable
as $$
-- Answers start_child where its call has a child already, or another companion has the name.
select (case when p_child.tool_call_id = p_tool_call_id then 'repeated' else 'name_taken' end,
  p_child.child_session_id,
  (select s.current_run_id from lockgate_store.sessions s
    where s.tenant_id = p_child.tenant_id and s.session_id = p_child.child_session_id),
  p_child.status,
  (select st.head_sequence from lockgate_store.streams st
    where st.tenant_id = p_run.tenant_id and st.session_id = p_run.session_id),
  p_run.stop_kind)::lockgate.start_child_result
$$;
