create type lockgate.append_chunks_outcome as enum ('too_large', 'fenced', 'repeated', 'appended');
create type lockgate.append_chunks_result as (
  outcome lockgate.append_chunks_outcome, head_sequence bigint, stop_kind text);

create function lockgate.append_chunks(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_after bigint,
  p_chunks jsonb[],
  p_tenant_id text default ''
)
  returns lockgate.append_chunks_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Appends a batch of one attempt's chunks. The hot path: one statement is fence, order and head.
-- p_after is the writer's own last sequence, so a batch whose answer was lost is told apart. An
-- empty batch only asks whether the attempt still stands.
--
-- Locks     stream row only
-- Writes    streams, stream_chunks
-- Outcomes  first that applies:
--   too_large  a chunk has more than 1 MiB of JSON, and as it is stored; it takes no sequence,
--              nothing written
--   fenced     the attempt is over, or the batch is out of order; nothing written
--   repeated   this very batch is stored; nothing written
--   appended   head_sequence is the last one's number; stop_kind, if a stop stands on the run
declare
  v_count integer := coalesce(cardinality(p_chunks), 0);
  v_head bigint;
begin
  if pg_column_size(p_chunks) > 1048576
     and exists (
       select from unnest(p_chunks) c
        where pg_column_size(c) > 1048576 and octet_length(c::text) > 1048576) then
    return ('too_large', null, null)::lockgate.append_chunks_result;
  end if;
  update lockgate_store.streams s
     set head_sequence = s.head_sequence + v_count
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id and s.run_id = p_run_id
     and s.attempt = p_attempt and s.status = 'active' and s.head_sequence = p_after
  returning s.head_sequence into v_head;
  if not found then
    return lockgate.answer_refused_append(
      p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
      p_after => p_after, p_chunks => p_chunks, p_tenant_id => p_tenant_id);
  end if;
  if v_count > 0 then
    insert into lockgate_store.stream_chunks (
        tenant_id, session_id, last_sequence, chunk_count, run_id, attempt, chunks)
      values (p_tenant_id, p_session_id, v_head, v_count, p_run_id, p_attempt, p_chunks);
  end if;
  return ('appended', v_head, (
    select r.stop_kind from lockgate_store.runs r where r.run_id = p_run_id
  ))::lockgate.append_chunks_result;
end;
$$;
