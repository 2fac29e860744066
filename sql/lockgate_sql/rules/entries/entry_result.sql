create type lockgate.entry_outcome as enum (
  'invalid_request', 'session_not_found', 'replayed', 'request_key_conflict', 'attached',
  'request_already_completed', 'already_running', 'agent_type_mismatch', 'identity_mismatch',
  'not_resumable', 'rejected', 'interrupting', 'started', 'resumed');

create type lockgate.entry_result as (
  outcome lockgate.entry_outcome,
  session_id text,
  stream_id text,
  run_id uuid,
  run_status text,
  start_sequence bigint,
  cause text,
  detail jsonb
);

-- An entry as every entry verb hands it to lockgate.enter: checked, normalised, digested.
create type lockgate.entry as (
  drive text,
  tenant_id text,
  session_id text,
  agent_type text,
  acting_user_id text,
  user_id text,
  tags text[],
  metadata jsonb,
  parent_session_id text,
  root_session_id text,
  messages jsonb,
  state jsonb,
  session_status text,
  checkpoint_id text,
  request_key text,
  request_digest text,
  run_id uuid,
  names_run boolean,
  start_digest text,
  concurrent_entry text,
  expect jsonb,
  dispatch_limit_ms integer,
  bad_field text
);
