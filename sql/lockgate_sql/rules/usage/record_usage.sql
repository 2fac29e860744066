create function lockgate.record_usage(
  p_run lockgate_store.runs,
  p_step integer,
  p_usage jsonb
)
  returns void
  language plpgsql volatile
as $$
-- Adds what a part of a step has used, in the commit of that part. p_usage is a list of {kind,
-- source, …}, each without a flaw; what else an entry says is kept as it is.
--
-- Raises    LG002 for what lockgate.usage_flaw refuses
begin
  if p_usage is null or p_usage = '[]' then
    return;
  end if;
  perform lockgate.require(jsonb_typeof(p_usage) = 'array' and not exists (
    select from jsonb_path_query(p_usage, 'strict $[*]', silent => true) u(entry)
     where lockgate.usage_flaw(u.entry, p_run.session_id) is not null),
    'usage is a list of entries of the form',
    jsonb_build_object('runId', p_run.run_id, 'step', p_step));
  insert into lockgate_store.usage (
      tenant_id, session_id, run_id, step, source, kind, detail, recorded_at)
    select p_run.tenant_id, p_run.session_id, p_run.run_id, p_step, u.value ->> 'source',
           u.value ->> 'kind', u.value - '{source,kind}'::text[], lockgate.now()
      from jsonb_array_elements(p_usage) with ordinality u
     order by u.ordinality;
end;
$$;
