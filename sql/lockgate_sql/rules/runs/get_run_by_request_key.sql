create function lockgate.get_run_by_request_key(
  p_session_id text,
  p_request_key text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.get_run_result
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads the run that holds a request key, whatever its status; an empty row where none does, or
-- the session is another user's. A key means nothing outside its session, so tenant, session and
-- key are looked up as one, in the unique index.
select g
  from lockgate_store.runs r,
       lateral lockgate.get_run(
         p_session_id => r.session_id, p_run_id => r.run_id,
         p_acting_user_id => p_acting_user_id, p_tenant_id => r.tenant_id) g
 where r.tenant_id = p_tenant_id
   and r.session_id = p_session_id
   and r.request_key = p_request_key
$$;
