-- A row is a run's crash-loop budget: claimed attempts without progress that were charged to it,
-- and the deaths of its workers, charged or not. A committed step deletes it.
create table if not exists lockgate_store.recoveries (
  tenant_id text not null default '',
  session_id text not null,
  run_id uuid not null,
  attempts integer not null default 0,
  deaths integer not null default 0,
  last_failure jsonb,
  next_at timestamptz not null,
  primary key (tenant_id, session_id, run_id)
);
