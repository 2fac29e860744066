-- A row is one tool call of a saved reply. Server calls are answered by the drive, client calls and
-- approvals by a submit, a sub-agent's by the end of its run. An approved call is the drive's to
-- run then. A consumed row stays as a tombstone for late duplicates.
create table if not exists lockgate_store.tool_calls (
  tenant_id text not null default '',
  session_id text not null,
  run_id uuid not null,
  step integer not null,
  ordinal integer not null,
  -- As the model named it, of any length and not unique; the announced id is ours to keep unique.
  model_call_id text not null,
  tool_call_id text not null,
  tool_name text not null,
  kind text not null default 'server',
  input jsonb not null,
  approval_id text,
  -- What was decided of an approval; null until it is, and for every other call.
  approved boolean,
  -- When the body of a call that must not run twice was begun.
  begun_at timestamptz,
  status text not null default 'pending',
  response jsonb,
  submitted_at timestamptz,
  consumed_at timestamptz,
  retention_ms bigint,
  root_session_id text,
  primary key (tenant_id, session_id, run_id, step, ordinal),
  constraint a_call_kind_is_known check (kind in ('server', 'client', 'approval', 'subagent')),
  constraint a_call_status_is_known
    check (status in ('pending', 'answered', 'consumed', 'abandoned')),
  constraint an_answer_has_its_response
    check (status not in ('answered', 'consumed') or response is not null or approved)
);

create unique index if not exists tool_calls_announced_once
  on lockgate_store.tool_calls (tenant_id, session_id, tool_call_id);

-- A submit may come through the root of the call's session.
create index if not exists tool_calls_of_root
  on lockgate_store.tool_calls (tenant_id, root_session_id, tool_call_id)
  where root_session_id is not null;
