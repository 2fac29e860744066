create function lockgate.run_of_submit(
  p_tenant_id text,
  p_session_id text,
  p_call lockgate_store.tool_calls,
  p_acting_user_id text
)
  returns lockgate_store.runs
  language sql stable
as $$
-- The run that a submit is judged by: the call's, or where there is no such call the current run of
-- the session that was named.
select r
  from lockgate_store.sessions s
  join lockgate_store.runs r
    on r.tenant_id = s.tenant_id and r.session_id = s.session_id
   and r.run_id = coalesce(p_call.run_id, s.current_run_id)
 where s.tenant_id = p_tenant_id and s.session_id = coalesce(p_call.session_id, p_session_id)
   and (p_acting_user_id is null or s.user_id = p_acting_user_id)
$$;
