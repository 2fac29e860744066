-- A row is one thing that a session's runs have used: tokens of a model call, a tool's body, a
-- sub-agent, or what the application counts itself. Written by the commit of the step it belongs
-- to, so it is there exactly when the step is.
create table if not exists lockgate_store.usage (
  tenant_id text not null default '',
  session_id text not null,
  entry bigint generated always as identity,
  run_id uuid not null,
  step integer not null,
  source text not null,
  kind text not null,
  detail jsonb not null,
  recorded_at timestamptz not null,
  primary key (tenant_id, session_id, entry),
  constraint a_usage_kind_is_known check (kind in ('tokens', 'tool', 'subagent', 'custom')),
  constraint a_usage_source_is_known check (source in ('agent', 'tool', 'subagent')),
  constraint usage_detail_is_an_object check (jsonb_typeof(detail) = 'object')
);
