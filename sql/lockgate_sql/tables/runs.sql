-- A row is one execution inside a session. Inserted by the run-start commit together with the
-- workflow that will drive it; afterwards written only under the session's row lock.
--
-- What never changes comes first: an update then logs little more than what it changed.
create table if not exists lockgate_store.runs (
  tenant_id text not null default '',
  session_id text not null,
  run_id uuid not null,
  turn integer not null,
  drive text not null,
  request_key text,
  request_digest text,
  -- The fingerprint of the whole start, where the caller chose the run id: only then it can be
  -- asked for again.
  start_digest text,
  start_sequence bigint not null,
  started_at timestamptz not null,
  status text not null default 'running',
  -- The fencing token: 1 from the start commit, +1 with each takeover and with the attempt's end.
  attempt integer not null default 1,
  step_count integer not null default 0,
  -- The DBOS workflow of this attempt, minted by the commit that enqueues it and never used twice.
  drive_id uuid not null,
  -- From when on the workflow of this attempt may be dispatched.
  dispatch_at timestamptz not null,
  owner_id text,
  claimed_at timestamptz,
  -- Whether an attempt before this one was claimed, so that this one recovers what it began.
  is_recovery boolean not null default false,
  stop_kind text,
  stop_reason text,
  stop_requested_at timestamptz,
  end_sequence bigint,
  completed_at timestamptz,
  output jsonb,
  error_detail jsonb,
  primary key (tenant_id, session_id, turn),
  constraint a_run_drive_is_known check (drive in ('start', 'resume', 'retry', 'continue')),
  constraint a_run_status_is_known check (status in (
    'running', 'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial',
    'completed', 'failed', 'interrupted', 'superseded')),
  constraint request_key_and_digest_go_together
    check ((request_key is null) = (request_digest is null)),
  constraint completed_at_goes_with_a_terminal_status
    check ((completed_at is not null)
      = (status in ('completed', 'failed', 'interrupted', 'superseded'))),
  constraint only_a_running_run_has_an_owner check (owner_id is null or status = 'running'),
  constraint a_stop_is_an_interrupt_or_an_abort check (stop_kind in ('interrupt', 'abort')),
  constraint a_stop_has_its_time check ((stop_kind is null) = (stop_requested_at is null))
) with (fillfactor = 70);

-- A run id is chosen by its caller, so it is unique in the database and not only in its session.
create unique index if not exists runs_run_id_once on lockgate_store.runs (run_id);

create unique index if not exists runs_one_live on lockgate_store.runs (tenant_id, session_id)
  where status in
    ('running', 'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial');

-- What sweeps, stops and metrics look through, however many runs are suspended. Its columns never
-- change and its condition asks for what the one above does: an update that was HOT still is.
create index if not exists runs_running on lockgate_store.runs (tenant_id, session_id)
  where status = 'running';
