-- A row is one appended batch of chunks; readers cut inside it. A row each would cost twenty
-- times the WAL. No foreign key: the append already holds the stream's row.
create table if not exists lockgate_store.stream_chunks (
  tenant_id text not null default '',
  session_id text not null,
  last_sequence bigint not null,
  chunk_count integer not null,
  run_id uuid not null,
  attempt integer not null,
  chunks jsonb[] not null,
  primary key (tenant_id, session_id, last_sequence),
  constraint a_batch_is_not_empty check (chunk_count > 0 and chunk_count = cardinality(chunks))
);
