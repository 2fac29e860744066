-- A row is someone who wants to be told of settlements: the hook, a webhook, or a SQL consumer
-- of its own name. Registered by the first claim_settlements of that name.
create table if not exists lockgate_store.consumers (
  consumer text primary key,
  registered_at timestamptz not null
);
