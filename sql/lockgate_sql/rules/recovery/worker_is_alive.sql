create function lockgate.worker_is_alive(p_worker_id text, p_now timestamptz)
  returns boolean
  language sql stable
as $$
-- Says whether a worker's last heartbeat is younger than the lease it promised.
select exists (
  select from lockgate_store.workers w
   where w.worker_id = p_worker_id
     and w.heartbeat_at + w.lease_ms * interval '1 millisecond' > p_now)
$$;
