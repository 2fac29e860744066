create type lockgate.read_stream_outcome as enum ('no_stream', 'rewound', 'truncated', 'page');
create type lockgate.read_stream_result as (
  outcome lockgate.read_stream_outcome,
  stream_status text,
  run_id uuid,
  head_sequence bigint,
  floor_sequence bigint,
  epoch text,
  final jsonb,
  first_sequence bigint,
  run_ids uuid[],
  chunks text[]
);

create function lockgate.read_stream(
  p_session_id text,
  p_after bigint default null,
  p_limit integer default 256,
  p_epoch text default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.read_stream_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads a page of a session's stream after a cursor, in one consistent look. Chunks are the JSON
-- texts of p_after + 1, p_after + 2 …; a null p_after begins at the oldest that is kept.
--
-- Outcomes  first that applies:
--   no_stream  no such session, another user's, or one that never had a run
--   rewound    the cursor is ahead of the head, or of another epoch
--   truncated  the cursor lies below what is kept
--   page       zero or more chunks; the reader is at the end when it has reached head_sequence
declare
  v_stream lockgate_store.streams;
  v_after bigint;
  v_result lockgate.read_stream_result;
begin
  select st.* into v_stream
    from lockgate_store.streams st
    join lockgate_store.sessions s on s.tenant_id = st.tenant_id and s.session_id = st.session_id
   where st.tenant_id = p_tenant_id and st.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  v_after := coalesce(p_after, v_stream.floor_sequence);
  v_result.outcome := case
    when v_stream.session_id is null then 'no_stream'
    when v_after > v_stream.head_sequence or p_epoch <> v_stream.epoch then 'rewound'
    when v_after < v_stream.floor_sequence then 'truncated'
    else 'page'
  end::lockgate.read_stream_outcome;
  v_result.stream_status := v_stream.status;
  v_result.run_id := v_stream.run_id;
  v_result.head_sequence := v_stream.head_sequence;
  v_result.floor_sequence := v_stream.floor_sequence;
  v_result.epoch := v_stream.epoch;
  v_result.final := v_stream.final;
  v_result.first_sequence := v_after + 1;
  if v_result.outcome = 'page' and v_after < v_stream.head_sequence then
    select array_agg(c.run_id order by c.sequence), array_agg(c.chunk order by c.sequence)
      into v_result.run_ids, v_result.chunks
      from lockgate.list_chunks(
        p_tenant_id, p_session_id, v_after, least(greatest(p_limit, 1), 1000)) c;
  end if;
  return v_result;
end;
$$;
