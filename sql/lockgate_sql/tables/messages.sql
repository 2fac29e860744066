-- A row is one message of a session's history, stored once and never per run. Appended by the
-- run-start commit (user), by a saved reply (assistant) and by the commit that closes a step or
-- ends the run (tool: all results of that step, in the order of the calls).
create table if not exists lockgate_store.messages (
  tenant_id text not null default '',
  session_id text not null,
  seq integer not null,
  role text not null,
  content jsonb not null,
  run_id uuid not null,
  step integer not null default 0,
  -- The id a client gave its own message; it is kept, and it is no part of the request digest.
  client_id text,
  created_at timestamptz not null,
  primary key (tenant_id, session_id, seq),
  constraint a_role_is_known check (role in ('user', 'assistant', 'tool')),
  constraint content_is_a_list_of_parts check (jsonb_typeof(content) = 'array')
);
