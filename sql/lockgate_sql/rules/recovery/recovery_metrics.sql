create type lockgate.recovery_metrics_result as (
  workers_alive bigint,
  workers_draining bigint,
  takeovers bigint,
  recoveries bigint,
  exhausted bigint,
  fenced_writes bigint,
  heartbeat_age_ms bigint,
  sweep_age_ms bigint,
  stranded_runs bigint,
  running_runs bigint,
  undelivered_settlements bigint
);

create function lockgate.recovery_metrics()
  returns lockgate.recovery_metrics_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Sums up how recovery stands, in one look, and names no session, user, tenant or worker.
--
--   workers_alive     workers_draining are those of them that take no new drives
--   takeovers         and the three after it are the totals of all boots, each as of its last
--                     heartbeat, whoever has died since or is forgotten
--   heartbeat_age_ms  of the alive worker that was silent longest; null where none is alive
--   sweep_age_ms      since the last sweep of anybody ended; null before the first
--   stranded_runs     those of lockgate.list_stranded_runs, however many
declare
  v_now timestamptz := lockgate.now();
  v_result lockgate.recovery_metrics_result;
begin
  select count(*) filter (where a.is_alive), count(*) filter (where a.is_alive and w.draining),
         coalesce(sum(w.takeovers), 0)::bigint, coalesce(sum(w.recoveries), 0)::bigint,
         coalesce(sum(w.exhausted), 0)::bigint, coalesce(sum(w.fenced_writes), 0)::bigint,
         (extract(epoch from v_now - min(w.heartbeat_at) filter (where a.is_alive)) * 1000)::bigint,
         (extract(epoch from v_now - max(w.swept_at)) * 1000)::bigint
    into v_result.workers_alive, v_result.workers_draining,
         v_result.takeovers, v_result.recoveries, v_result.exhausted, v_result.fenced_writes,
         v_result.heartbeat_age_ms, v_result.sweep_age_ms
    from (
      select w.heartbeat_at, w.lease_ms, w.draining, w.takeovers, w.recoveries, w.exhausted,
             w.fenced_writes, w.swept_at
        from lockgate_store.workers w
      union all
      select null, null, null, f.takeovers, f.recoveries, f.exhausted, f.fenced_writes, f.swept_at
        from lockgate_store.forgotten_workers f) w
   cross join lateral (
     select w.heartbeat_at + w.lease_ms * interval '1 millisecond' > v_now) a(is_alive);
  select count(*) filter (
           where f.finding is not null and (r.owner_id is not null or r.dispatch_at < v_now)
             and (f.finding <> 'wait_over' or r.dispatch_at + interval '5 seconds' < v_now)),
         count(*)
    into v_result.stranded_runs, v_result.running_runs
    from lockgate_store.runs r
   cross join lateral lockgate.is_stranded(r, lockgate.drive_workflow(r.drive_id), v_now) f(finding)
   where r.status = 'running';
  v_result.undelivered_settlements := (
    select count(*) from lockgate_store.deliveries d where d.delivered_at is null);
  return v_result;
end;
$$;
