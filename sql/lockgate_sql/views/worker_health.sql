create view lockgate.worker_health as
-- Which workers are there, are they alive, how much does each drive, and what did each recover?
-- A boot that owns no run is forgotten when it was silent for a day.
select w.worker_id, w.drive_version, w.draining, w.started_at, w.heartbeat_at,
       clock_timestamp() - w.heartbeat_at as heartbeat_age,
       w.heartbeat_at + w.lease_ms * interval '1 millisecond' > clock_timestamp() as alive,
       coalesce(o.live_runs, 0) as live_runs,
       w.takeovers, w.recoveries, w.exhausted, w.fenced_writes, w.swept_at,
       clock_timestamp() - w.swept_at as sweep_age
  from lockgate_store.workers w
  left join (
    select r.owner_id, count(*) as live_runs
      from lockgate_store.runs r
     where r.status = 'running'
     group by r.owner_id) o on o.owner_id = w.worker_id;
