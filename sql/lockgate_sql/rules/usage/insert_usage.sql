create function lockgate.insert_usage(p_session lockgate_store.sessions, p_entries jsonb)
  returns integer
  language plpgsql volatile
as $$
-- Adds entries of usage whose ids the session does not have yet, and says how many; of two with one
-- id the first counts. The session is locked, so what has no id here has none in another commit.
declare
  v_count integer;
begin
  insert into lockgate_store.usage (
      tenant_id, session_id, run_id, step, source, kind, detail, recorded_at)
    select p_session.tenant_id, p_session.session_id,
           coalesce((e.entry ->> 'runId')::uuid, p_session.current_run_id),
           coalesce((e.entry ->> 'stepCount')::integer, 0), e.entry ->> 'source',
           e.entry ->> 'kind',
           e.entry - '{source,kind,sessionId,runId,stepCount,timestamp}'::text[], lockgate.now()
      from (
        select distinct on (coalesce(a.value ->> 'id', a.ordinality::text), a.value ? 'id')
               a.value, a.ordinality
          from jsonb_array_elements(p_entries) with ordinality a
         order by coalesce(a.value ->> 'id', a.ordinality::text), a.value ? 'id', a.ordinality
      ) e(entry, ordinality)
     where not exists (
       select from lockgate_store.usage u
        where u.tenant_id = p_session.tenant_id and u.session_id = p_session.session_id
          and u.detail ->> 'id' = e.entry ->> 'id')
     order by e.ordinality;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
