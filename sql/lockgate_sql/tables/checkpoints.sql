-- A row is the place after a committed step to which a session can be taken back: a message
-- count, never a copy, and the state where it differs from that of the checkpoint before. What a
-- later entry goes back behind is deleted.
create table if not exists lockgate_store.checkpoints (
  tenant_id text not null default '',
  session_id text not null,
  turn integer not null,
  step integer not null,
  run_id uuid not null,
  message_count integer not null,
  state jsonb,
  created_at timestamptz not null,
  primary key (tenant_id, session_id, turn, step)
);
