create function lockgate.answer_refused_append(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_after bigint,
  p_chunks jsonb[],
  p_tenant_id text
)
  returns lockgate.append_chunks_result
  language plpgsql stable
as $$
-- Tells a batch that is already stored from one that comes too late.
begin
  if exists (
    select
      from lockgate_store.streams s
      join lockgate_store.stream_chunks c
        on c.tenant_id = s.tenant_id and c.session_id = s.session_id
       and c.last_sequence = p_after + cardinality(p_chunks)
     where s.tenant_id = p_tenant_id and s.session_id = p_session_id and s.run_id = p_run_id
       and s.attempt = p_attempt and s.status = 'active'
       and c.attempt = p_attempt and c.run_id = p_run_id and c.chunks = p_chunks)
  then
    return ('repeated', p_after + cardinality(p_chunks), (
      select r.stop_kind from lockgate_store.runs r where r.run_id = p_run_id
    ))::lockgate.append_chunks_result;
  end if;
  return ('fenced', null, null)::lockgate.append_chunks_result;
end;
$$;
