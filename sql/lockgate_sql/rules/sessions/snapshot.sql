create type lockgate.snapshot_result as (
  session_id text,
  agent_type text,
  session_status text,
  state jsonb,
  error_detail jsonb,
  message_count integer,
  messages jsonb,
  calls jsonb,
  stream_status text,
  stream_sequence bigint,
  epoch text,
  final jsonb,
  run_id uuid,
  run_status text,
  turn integer,
  start_sequence bigint,
  end_sequence bigint,
  request_key text,
  request_digest text,
  read_at timestamptz
);

create function lockgate.snapshot(
  p_session_id text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.snapshot_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads a session's saved history together with the cursor that follows it, in one consistent
-- look: the messages, plus the chunks after stream_sequence, are the whole conversation. An empty
-- row where there is no such session, or it is another user's.
--
-- messages are {seq, role, content, runId, step, clientId?}; calls are those of the current run
-- whose results are in no message yet, as lockgate.list_calls gives them.
declare
  v_result lockgate.snapshot_result;
begin
  select s.session_id, s.agent_type, s.status, s.state, s.error_detail, s.message_count,
         lockgate.list_history(s.tenant_id, s.session_id, s.message_count),
         lockgate.list_calls(r), st.status, st.committed_sequence, st.epoch, st.final,
         r.run_id, r.status, r.turn, r.start_sequence, r.end_sequence, r.request_key,
         r.request_digest, lockgate.now()
    into v_result
    from lockgate_store.sessions s
    left join lockgate_store.runs r
      on r.run_id = s.current_run_id and r.tenant_id = s.tenant_id and r.session_id = s.session_id
    left join lockgate_store.streams st
      on st.tenant_id = s.tenant_id and st.session_id = s.session_id
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  return v_result;
end;
$$;
