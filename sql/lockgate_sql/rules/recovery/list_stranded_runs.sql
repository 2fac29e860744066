create type lockgate.stranded_run as (
  tenant_id text,
  session_id text,
  run_id uuid,
  finding text,
  since timestamptz,
  owner_id text,
  attempt integer,
  lost_attempts integer,
  last_failure_code text,
  next_at timestamptz
);

create function lockgate.list_stranded_runs(p_limit integer default 1000)
  returns setof lockgate.stranded_run
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Lists the runs that nothing executes, longest first: what a sweep would find, with the findings
-- of lockgate.is_stranded, whoever asks and however late. A run that waits for its next attempt is
-- none yet, nor is one whose wait is over, for as long as a sweep may take to find it. since is the
-- last sign of life of what held it, or when it should have been taken; lost_attempts,
-- last_failure_code and next_at say how its budget stands.
declare
  v_now timestamptz := lockgate.now();
begin
  return query
    select r.tenant_id, r.session_id, r.run_id, f.finding::text,
           greatest(coalesce(r.claimed_at, d.dispatched_at, r.dispatch_at),
             case when f.finding = 'owner_dead' then w.heartbeat_at end) as since,
           r.owner_id, r.attempt, coalesce(c.attempts, 0), c.last_failure ->> 'code', c.next_at
      from lockgate_store.runs r
     cross join lateral lockgate.drive_workflow(r.drive_id) d
     cross join lateral lockgate.is_stranded(r, d, v_now) f(finding)
      left join lockgate_store.workers w on w.worker_id = r.owner_id
      left join lockgate_store.recoveries c
        on c.tenant_id = r.tenant_id and c.session_id = r.session_id and c.run_id = r.run_id
     where r.status = 'running'
       and (r.owner_id is not null or r.dispatch_at < v_now)
       and f.finding is not null
       and (f.finding <> 'wait_over' or r.dispatch_at + interval '5 seconds' < v_now)
     order by since, r.run_id
     limit least(greatest(p_limit, 1), 1000);
end;
$$;
