-- A row is one boot of a worker process. It promises to beat within its own lease; who judges it
-- reads that promise from here, so no two processes can judge it by different leases. Its totals
-- are those of this boot, as its last heartbeat told them; they decide nothing. A boot that was
-- silent for a day and owns no run is forgotten: see forgotten_workers.
create table if not exists lockgate_store.workers (
  worker_id text primary key,
  drive_version text not null,
  lease_ms integer not null,
  heartbeat_at timestamptz not null,
  -- Since when the heartbeat has never been late: a worker that was away itself judges nobody.
  regular_since timestamptz not null,
  draining boolean not null default false,
  started_at timestamptz not null,
  -- Runs that its sweeps handed to a new attempt; drives that it entered as recover; runs that
  -- ended by their budget in its hands; writes of its lost attempts that were refused.
  takeovers bigint not null default 0,
  recoveries bigint not null default 0,
  exhausted bigint not null default 0,
  fenced_writes bigint not null default 0,
  -- When its last sweep ended; null before the first.
  swept_at timestamptz,
  constraint a_lease_is_positive check (lease_ms > 0)
) with (fillfactor = 50);
