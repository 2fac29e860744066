-- A row is one conversation. Created by create_session or by the first start; written by every
-- commit that starts or ends a run, and by each committed part of a step (message_count, state).
-- Identity is fixed at creation. Its row lock is the gate: who holds it decides.
--
-- What never changes comes first: an update then logs little more than what it changed.
create table if not exists lockgate_store.sessions (
  tenant_id text not null default '',
  session_id text not null,
  agent_type text not null,
  user_id text,
  tags text[] not null default '{}',
  metadata jsonb not null default '{}',
  parent_session_id text,
  root_session_id text,
  created_at timestamptz not null,
  expires_at timestamptz,
  -- True from create_session until the first run, or its failure: what a sweep looks for. A column
  -- of its own, so that the index below is not touched by the updates of a session's runs.
  first_run_due boolean not null default false,
  -- True while a store client has written a part of an end and not the rest: a sweep looks for it.
  end_due boolean not null default false,
  -- True while the state holds what an entry brought and no checkpoint has yet.
  state_is_new boolean not null default false,
  state jsonb not null default '{}',
  status text not null default 'active',
  current_run_id uuid,
  turn_count integer not null default 0,
  message_count integer not null default 0,
  version bigint not null default 1,
  updated_at timestamptz not null,
  -- Which run wrote the terminal commit, and as what: the evidence that it landed.
  terminal_run_id uuid,
  terminal_status text,
  output jsonb,
  error_detail jsonb,
  primary key (tenant_id, session_id),
  constraint a_session_status_is_known
    check (status in ('active', 'paused', 'completed', 'failed', 'interrupted')),
  constraint a_session_with_turns_has_a_current_run
    check ((turn_count = 0) = (current_run_id is null)),
  constraint a_terminal_commit_names_run_and_status
    check ((terminal_run_id is null) = (terminal_status is null)),
  constraint a_terminal_status_is_known
    check (terminal_status in ('completed', 'failed', 'interrupted')),
  constraint state_is_an_object check (jsonb_typeof(state) = 'object'),
  constraint metadata_is_an_object check (jsonb_typeof(metadata) = 'object')
) with (fillfactor = 70);

create index if not exists sessions_first_run_due
  on lockgate_store.sessions (created_at) where first_run_due;
create index if not exists sessions_end_due
  on lockgate_store.sessions (created_at) where end_due;

-- What lists and deletes look for never changes in a session's life, so its updates stay HOT.
create index if not exists sessions_by_age
  on lockgate_store.sessions (tenant_id, created_at);
create index if not exists sessions_of_user
  on lockgate_store.sessions (tenant_id, user_id, created_at) where user_id is not null;
create index if not exists sessions_of_parent
  on lockgate_store.sessions (tenant_id, parent_session_id) where parent_session_id is not null;
