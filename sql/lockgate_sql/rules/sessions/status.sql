create type lockgate.status_result as (
  session_id text,
  agent_type text,
  session_status text,
  stream_status text,
  run_id uuid,
  run_status text,
  turn integer,
  is_executing boolean,
  start_sequence bigint,
  output jsonb,
  error_detail jsonb,
  awaiting_tool_call_ids text[],
  updated_at timestamptz
);

create function lockgate.status(
  p_session_id text,
  p_dispatch_limit_ms integer default 30000,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.status_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads where a session stands, in one consistent look; an empty row where there is none, or it
-- is another user's.
declare
  v_session lockgate_store.sessions;
  v_run lockgate_store.runs;
begin
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  if not found then
    return null;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = v_session.current_run_id
     and r.tenant_id = p_tenant_id and r.session_id = p_session_id;
  return (
    v_session.session_id, v_session.agent_type, v_session.status,
    (select st.status from lockgate_store.streams st
      where st.tenant_id = p_tenant_id and st.session_id = p_session_id),
    v_run.run_id, v_run.status, v_run.turn,
    lockgate.is_executing(v_run, p_dispatch_limit_ms, v_session.terminal_run_id),
    v_run.start_sequence, v_session.output, v_session.error_detail,
    lockgate.awaited_calls(v_run),
    v_session.updated_at)::lockgate.status_result;
end;
$$;
