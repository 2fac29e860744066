create function lockgate.enter_child(
  p_run lockgate_store.runs,
  p_child lockgate_store.children,
  p_input jsonb
)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- Starts the first run of a new child, which carries its parent's identity and knows its root.
--
-- Raises    LG002 for an input or an agent type that is not of the form
declare
  v_parent lockgate_store.sessions;
  v_answer lockgate.entry_result;
begin
  select s.* into v_parent
    from lockgate_store.sessions s
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  v_answer := lockgate.enter(lockgate.read_start(
    p_session_id => p_child.child_session_id, p_agent_type => p_child.agent_type,
    p_input => p_input, p_request_key => null, p_user_id => v_parent.user_id,
    p_tags => v_parent.tags, p_metadata => v_parent.metadata,
    p_parent_session_id => v_parent.session_id,
    p_root_session_id => coalesce(v_parent.root_session_id, v_parent.session_id),
    p_concurrent_entry => 'reject', p_run_id => null, p_expect => null,
    p_dispatch_limit_ms => null, p_acting_user_id => null, p_tenant_id => p_run.tenant_id));
  perform lockgate.require(v_answer.outcome = 'started',
    'a child starts with an agent type and an input that are of the form', v_answer.detail);
  return v_answer;
end;
$$;
