-- A row is one settlement's way to one consumer; delivered_at is the mark. Written by the commit
-- that settles, for each consumer that is registered, so that what is due is a short index and
-- never a search through all that was ever delivered.
create table if not exists lockgate_store.deliveries (
  tenant_id text not null default '',
  session_id text not null,
  run_id uuid not null,
  status text not null,
  consumer text not null,
  settled_at timestamptz not null,
  claimed_until timestamptz,
  tries integer not null default 0,
  last_error text,
  delivered_at timestamptz,
  primary key (tenant_id, session_id, run_id, status, consumer)
);

create index if not exists deliveries_due
  on lockgate_store.deliveries (consumer, settled_at) where delivered_at is null;
