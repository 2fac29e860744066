create type lockgate.stored_chunk as (sequence bigint, run_id uuid, chunk text);

create function lockgate.list_chunks(
  p_tenant_id text,
  p_session_id text,
  p_after bigint,
  p_limit integer
)
  returns setof lockgate.stored_chunk
  language sql stable
as $$
-- The next p_limit chunks after a sequence. A row is a batch: the reader's cut may lie inside it,
-- and no batch after the one that holds the last of them is touched.
select b.last_sequence - b.chunk_count + u.ordinality, b.run_id, u.chunk::text
  from (
    select c.last_sequence, c.chunk_count, c.run_id, c.chunks
      from lockgate_store.stream_chunks c
     where c.tenant_id = p_tenant_id and c.session_id = p_session_id
       and c.last_sequence > p_after
       and c.last_sequence <= coalesce((
         select min(x.last_sequence) from lockgate_store.stream_chunks x
          where x.tenant_id = p_tenant_id and x.session_id = p_session_id
            and x.last_sequence >= p_after + p_limit), 9223372036854775807)
  ) b, unnest(b.chunks) with ordinality u(chunk, ordinality)
 where b.last_sequence - b.chunk_count + u.ordinality > p_after
 order by 1
 limit p_limit
$$;
