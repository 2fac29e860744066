create type lockgate.claim_run_outcome as enum ('over', 'claimed');
create type lockgate.claim_run_result as (
  outcome lockgate.claim_run_outcome,
  attempt integer,
  turn integer,
  drive text,
  agent_type text,
  user_id text,
  tags text[],
  metadata jsonb,
  parent_session_id text,
  root_session_id text,
  state jsonb,
  step_count integer,
  message_count integer,
  messages jsonb,
  calls jsonb,
  head_sequence bigint,
  stop_kind text,
  deaths integer,
  is_recovery boolean
);

create function lockgate.claim_run(
  p_session_id text,
  p_run_id uuid,
  p_drive_id uuid,
  p_worker_id text,
  p_tenant_id text default ''
)
  returns lockgate.claim_run_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Gives a run to the one drive that may have it, with all that the drive needs to go on from the
-- first step that is not committed. A later attempt opens with stream_resync, so that readers drop
-- the text that the lost attempt never saved. deaths counts those before it whose worker died since
-- the run's last step; is_recovery says whether any before it was claimed.
--
-- Locks     session row, run row, stream row
-- Writes    runs; for a later attempt the stream
-- Outcomes  first that applies:
--   over     the run is not running, its end is recorded, it is claimed, or it has another
--            drive_id by now; nothing written
--   claimed  exactly once per drive_id
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
  v_head bigint;
  v_committed bigint;
begin
  update lockgate_store.runs r
     set owner_id = p_worker_id, claimed_at = lockgate.now()
   where r.run_id = p_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     and r.status = 'running' and r.drive_id = p_drive_id and r.claimed_at is null
     and r.run_id is distinct from v_session.terminal_run_id
  returning r.* into v_run;
  if not found then
    return row('over', null, null, null, null, null, null, null, null, null, null, null, null,
      null, null, null, null, null, null)::lockgate.claim_run_result;
  end if;
  select s.head_sequence, s.committed_sequence into v_head, v_committed
    from lockgate_store.streams s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  if v_run.attempt > 1 then
    v_head := lockgate.write_chunks(v_run, array[lockgate.make_chunk(
      v_run, 'stream_resync', jsonb_build_object(
        'runId', p_run_id, 'attempt', v_run.attempt, 'committedSequence', v_committed))]);
  end if;
  return (
    'claimed', v_run.attempt, v_run.turn, v_run.drive, v_session.agent_type, v_session.user_id,
    v_session.tags, v_session.metadata, v_session.parent_session_id, v_session.root_session_id,
    v_session.state, v_run.step_count, v_session.message_count,
    lockgate.list_history(p_tenant_id, p_session_id, v_session.message_count),
    lockgate.list_calls(v_run), v_head, v_run.stop_kind, coalesce((
      select c.deaths from lockgate_store.recoveries c
       where c.tenant_id = p_tenant_id and c.session_id = p_session_id
         and c.run_id = p_run_id), 0), v_run.is_recovery)::lockgate.claim_run_result;
end;
$$;
