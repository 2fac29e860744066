create function lockgate.insert_child(
  p_run lockgate_store.runs,
  p_tool_call_id text,
  p_agent_type text,
  p_mode text,
  p_name text,
  p_remote_session_id text default null
)
  returns lockgate_store.children
  language plpgsql volatile
as $$
-- Records a child of a session: a local one under an id that is minted here, a remote one under
-- the id that its host is to know it by. The session is locked.
--
-- Raises    LG002 when the run has no such open call, mode and name are not of the form, or another
--           child has that id
declare
  v_child lockgate_store.children;
begin
  perform lockgate.require(
    p_mode in ('subagent', 'blocking', 'background') and (p_name is null) = (p_mode = 'subagent')
      and coalesce(char_length(p_name) between 1 and 128, true)
      and coalesce(char_length(p_remote_session_id) between 1 and 256, true)
      and exists (
        select from lockgate_store.tool_calls c
         where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
           and c.run_id = p_run.run_id and c.tool_call_id = p_tool_call_id
           and c.status = 'pending'),
    'a child is made for an open call of the run; a companion has a name, a sub-agent none',
    jsonb_build_object('runId', p_run.run_id, 'toolCallId', p_tool_call_id));
  insert into lockgate_store.children as c (
      tenant_id, session_id, child_session_id, run_id, tool_call_id, agent_type, name, mode,
      location, created_at)
    values (
      p_run.tenant_id, p_run.session_id,
      coalesce(p_remote_session_id, gen_random_uuid()::text), p_run.run_id, p_tool_call_id,
      p_agent_type, p_name, p_mode,
      case when p_remote_session_id is null then 'local' else 'remote' end, lockgate.now())
    on conflict do nothing
    returning c.* into v_child;
  perform lockgate.require(v_child.session_id is not null,
    'a remote child has an id of its own', jsonb_build_object('childId', p_remote_session_id));
  return v_child;
end;
$$;
