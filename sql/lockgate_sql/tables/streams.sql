-- A row is a session's one stream. Created by the session's first run, since only runs write
-- streams. Sequences are given under this row's lock, so commit order is number order; they rise
-- for the session's life. No index on what changes, and room on the page: appends stay HOT.
create table if not exists lockgate_store.streams (
  tenant_id text not null default '',
  session_id text not null,
  -- Tells two lives of one session id apart, so that a cursor from the first is recognised.
  epoch text not null default substr(gen_random_uuid()::text, 1, 8),
  -- The highest sequence that is no longer kept.
  floor_sequence bigint not null default 0,
  status text not null default 'active',
  run_id uuid not null,
  attempt integer not null default 1,
  head_sequence bigint not null default 0,
  -- Up to here the chunks belong to what is saved; text after it is void once an attempt is lost.
  committed_sequence bigint not null default 0,
  final jsonb,
  primary key (tenant_id, session_id),
  constraint a_stream_status_is_known check (status in ('active', 'paused', 'ended', 'failed')),
  constraint sequences_are_in_order
    check (floor_sequence <= committed_sequence and committed_sequence <= head_sequence),
  constraint a_final_goes_with_a_closed_stream check ((final is null) = (status = 'active'))
) with (fillfactor = 50);
