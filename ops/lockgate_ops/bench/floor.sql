-- The floor: what an accepted start writes, and the same enqueue, with no rule at all. It checks
-- nothing and answers a row of the same type. The session comes first, so that two clients of one
-- session take turns at its row.
create schema if not exists lockgate_bench;
drop function if exists lockgate_bench.floor;
create function lockgate_bench.floor(p_session_id text, p_message jsonb, p_request_key text)
  returns lockgate.entry_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_id uuid := gen_random_uuid();
  v_drive_id uuid := gen_random_uuid();
  v_now timestamptz := clock_timestamp();
  v_old_run_id uuid;
  v_turn integer;
  v_count integer;
  v_head bigint;
begin
  update lockgate_store.sessions s
     set status = 'active', current_run_id = v_run_id, turn_count = s.turn_count + 1,
         version = s.version + 1, message_count = s.message_count + 1, updated_at = v_now
   where s.tenant_id = '' and s.session_id = p_session_id
  returning s.turn_count, s.message_count into v_turn, v_count;
  if not found then
    v_turn := 1;
    v_count := 1;
    insert into lockgate_store.sessions (
        tenant_id, session_id, agent_type, current_run_id, turn_count, message_count, created_at,
        updated_at)
      values ('', p_session_id, 'assistant', v_run_id, v_turn, v_count, v_now, v_now);
  end if;
  update lockgate_store.runs r
     set status = 'superseded', completed_at = v_now, attempt = r.attempt + 1
   where r.tenant_id = '' and r.session_id = p_session_id and r.status = 'running'
  returning r.run_id into v_old_run_id;
  if found then
    insert into lockgate_store.settlements (tenant_id, session_id, run_id, status, settled_at)
      values ('', p_session_id, v_old_run_id, 'superseded', v_now);
  end if;
  update lockgate_store.streams s
     set status = 'active', run_id = v_run_id, attempt = 1, committed_sequence = s.head_sequence,
         final = null
   where s.tenant_id = '' and s.session_id = p_session_id
  returning s.head_sequence into v_head;
  if not found then
    insert into lockgate_store.streams (tenant_id, session_id, run_id)
      values ('', p_session_id, v_run_id);
  end if;
  insert into lockgate_store.runs (
      tenant_id, session_id, run_id, turn, drive, request_key, request_digest, drive_id,
      dispatch_at, start_sequence, started_at)
    values (
      '', p_session_id, v_run_id, v_turn, 'start', p_request_key, repeat('0', 64), v_drive_id,
      v_now, coalesce(v_head, 0), v_now);
  insert into lockgate_store.messages (
      tenant_id, session_id, seq, role, content, run_id, created_at)
    values ('', p_session_id, v_count, 'user', p_message, v_run_id, v_now);
  perform lockgate.enqueue_drive('', p_session_id, v_run_id, v_drive_id);
  return ('started', p_session_id, p_session_id, v_run_id, 'running', coalesce(v_head, 0), null,
    null)::lockgate.entry_result;
end;
$$;
