-- A row is a duty: this run reached this status, at which nothing executes for it, and whoever
-- asked to be told must be told. Written by the commit that settles.
create table if not exists lockgate_store.settlements (
  tenant_id text not null default '',
  session_id text not null,
  run_id uuid not null,
  status text not null,
  settled_at timestamptz not null,
  primary key (tenant_id, session_id, run_id, status),
  constraint a_settled_status_is_known check (status in (
    'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial',
    'completed', 'failed', 'interrupted', 'superseded'))
);
