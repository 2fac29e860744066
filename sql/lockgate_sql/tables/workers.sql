-- A row is one boot of a worker process. It promises to beat within its own lease; who judges it
-- reads that promise from here, so no two processes can judge it by different leases.
create table if not exists lockgate_store.workers (
  worker_id text primary key,
  drive_version text not null,
  lease_ms integer not null,
  heartbeat_at timestamptz not null,
  -- Since when the heartbeat has never been late: a worker that was away itself judges nobody.
  regular_since timestamptz not null,
  draining boolean not null default false,
  started_at timestamptz not null,
  constraint a_lease_is_positive check (lease_ms > 0)
) with (fillfactor = 50);
