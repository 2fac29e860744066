create function lockgate.write_child_end(
  p_child lockgate_store.children,
  p_parent lockgate_store.sessions,
  p_status text,
  p_output jsonb,
  p_error_detail jsonb
)
  returns uuid
  language plpgsql volatile
as $$
-- Writes how a child ended to its parent's record of it. Where calls of the parent wait for the
-- child, the end is their answer, and the last answer of a batch starts the parent's next run,
-- whose id is returned. The parent's session is locked.
--
-- Writes    children, tool_calls; with the last answer see lockgate.begin_run
declare
  v_run lockgate_store.runs;
begin
  update lockgate_store.children c
     set status = p_status, output = p_output, error_detail = p_error_detail,
         ended_at = lockgate.now(), waiting_call_ids = '{}'
   where c.tenant_id = p_child.tenant_id and c.session_id = p_child.session_id
     and c.child_session_id = p_child.child_session_id;
  update lockgate_store.tool_calls c
     set status = 'answered', submitted_at = lockgate.now(),
         response = lockgate.child_response(p_status, p_output, p_error_detail)
   where c.tenant_id = p_child.tenant_id and c.session_id = p_child.session_id
     and c.tool_call_id = any (p_child.tool_call_id || p_child.waiting_call_ids)
     and c.kind = 'subagent' and c.status = 'pending';
  if not found then
    return null;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_parent.current_run_id;
  if v_run.status = 'running' or not lockgate.is_live(v_run.status) then
    return null;  -- Its drive finds the answer, at the latest when it suspends.
  end if;
  return lockgate.continue_run(v_run);
end;
$$;
