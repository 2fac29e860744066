-- A row is one child of a session: a sub-agent that a call waits for, or a companion that lives on
-- beside it. Written by the commit that starts the child, and by every commit that ends a run of
-- it. A child in this database is a session whose parent_session_id is this one; a remote child is
-- known by the id that its host gave it.
create table if not exists lockgate_store.children (
  tenant_id text not null default '',
  session_id text not null,
  child_session_id text not null,
  run_id uuid not null,
  -- The call that made it, by the id under which it was announced.
  tool_call_id text not null,
  agent_type text not null,
  -- A companion's name, unique among its parent's.
  name text,
  mode text not null,
  location text not null default 'local',
  -- The status of the child's last run, as far as its parent was told.
  status text not null default 'running',
  output jsonb,
  error_detail jsonb,
  -- Later calls that wait for the end of the run that is under way; it answers them, and is theirs.
  waiting_call_ids text[] not null default '{}',
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (tenant_id, session_id, child_session_id),
  constraint a_child_mode_is_known check (mode in ('subagent', 'blocking', 'background')),
  constraint a_child_is_local_or_remote check (location in ('local', 'remote')),
  constraint a_companion_has_a_name check ((name is null) = (mode = 'subagent'))
);

-- One call makes one child, however often its commit is repeated.
create unique index if not exists children_of_call_once
  on lockgate_store.children (tenant_id, session_id, tool_call_id);

create unique index if not exists children_named_once
  on lockgate_store.children (tenant_id, session_id, name) where name is not null;
