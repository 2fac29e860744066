create function lockgate.write_chunks(
  p_run lockgate_store.runs,
  p_chunks jsonb[],
  p_commits boolean default false
)
  returns bigint
  language plpgsql volatile
as $$
-- Puts chunks on the stream of the run that has it, within a commit that holds the session's
-- lock, and returns the head. p_commits: what is on the stream now belongs to what is saved.
declare
  v_count integer := coalesce(cardinality(p_chunks), 0);
  v_head bigint;
  v_attempt integer;
begin
  update lockgate_store.streams s
     set head_sequence = s.head_sequence + v_count,
         committed_sequence = case when p_commits then s.head_sequence + v_count
           else s.committed_sequence end
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id
  returning s.head_sequence, s.attempt into v_head, v_attempt;
  if found and v_count > 0 then
    insert into lockgate_store.stream_chunks (
        tenant_id, session_id, last_sequence, chunk_count, run_id, attempt, chunks)
      values (
        p_run.tenant_id, p_run.session_id, v_head, v_count, p_run.run_id, v_attempt, p_chunks);
  end if;
  return v_head;
end;
$$;
