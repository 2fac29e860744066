create view lockgate.live_runs as
-- Which runs have not ended, what does each wait for, and since when?
--   waiting    committed, and no worker has claimed it yet
--   driven     a living worker drives it
--   stranded   its worker's last heartbeat is older than the lease; a sweep takes it over
--   suspended  it waits for answers, or for its children
select r.tenant_id, r.session_id, r.turn, r.run_id, r.status,
       case
         when r.status <> 'running' then 'suspended'
         when r.owner_id is null then 'waiting'
         when w.heartbeat_at + w.lease_ms * interval '1 millisecond' > clock_timestamp()
           then 'driven'
         else 'stranded'
       end as phase,
       r.attempt, r.step_count, r.owner_id, r.stop_kind, r.started_at,
       coalesce(r.claimed_at, r.dispatch_at) as since
  from lockgate_store.runs r
  left join lockgate_store.workers w on w.worker_id = r.owner_id
 where r.status in
   ('running', 'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial');
