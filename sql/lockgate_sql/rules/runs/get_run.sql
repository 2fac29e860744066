create type lockgate.get_run_result as (
  run_id uuid,
  session_id text,
  turn integer,
  drive text,
  status text,
  request_key text,
  request_digest text,
  attempt integer,
  start_sequence bigint,
  end_sequence bigint,
  step_count integer,
  output jsonb,
  error_detail jsonb,
  started_at timestamptz,
  completed_at timestamptz
);

create function lockgate.get_run(
  p_session_id text,
  p_run_id uuid,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.get_run_result
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads one run of a session; an empty row where there is none, or the session is another user's.
select r.run_id, r.session_id, r.turn, r.drive, r.status, r.request_key, r.request_digest,
       r.attempt, r.start_sequence, r.end_sequence, r.step_count, r.output, r.error_detail,
       r.started_at, r.completed_at
  from lockgate_store.runs r
  join lockgate_store.sessions s on s.tenant_id = r.tenant_id and s.session_id = r.session_id
 where r.run_id = p_run_id
   and r.tenant_id = p_tenant_id
   and r.session_id = p_session_id
   and (p_acting_user_id is null or s.user_id = p_acting_user_id)
$$;
