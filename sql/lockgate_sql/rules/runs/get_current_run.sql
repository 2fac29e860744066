create function lockgate.get_current_run(
  p_session_id text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.get_run_result
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads a session's current run, whatever its status; an empty row where there is no such session,
-- one that never ran, or another user's.
select g
  from lockgate_store.sessions s,
       lateral lockgate.get_run(
         p_session_id => s.session_id, p_run_id => s.current_run_id,
         p_acting_user_id => p_acting_user_id, p_tenant_id => s.tenant_id) g
 where s.tenant_id = p_tenant_id and s.session_id = p_session_id
$$;
