create function lockgate.announced_id(
  p_run lockgate_store.runs,
  p_step integer,
  p_ordinal integer,
  p_model_call_id text
)
  returns text
  language plpgsql stable
as $$
-- The id under which clients see a call, unique in its session: the model's own if it is short,
-- printable and new; a repeated one with the smallest free number; any other one of ours.
--
-- The number is found in one statement, since a model may name its calls alike for a session's
-- life: of one more number than there are ids with one, one is free.
begin
  if p_model_call_id is null or char_length(p_model_call_id) not between 1 and 256
     or p_model_call_id ~ '[[:cntrl:]]'
  then
    return concat_ws('_', 'call', replace(p_run.run_id::text, '-', ''), p_step, p_ordinal);
  end if;
  if not exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.tool_call_id = p_model_call_id)
  then
    return p_model_call_id;
  end if;
  return (
    select p_model_call_id || '_' || min(n.number)
      from generate_series(2, 2 + (
        select count(*) from lockgate_store.tool_calls c
         where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
           and starts_with(c.tool_call_id, p_model_call_id || '_'))) n(number)
     where not exists (
       select from lockgate_store.tool_calls c
        where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
          and c.tool_call_id = p_model_call_id || '_' || n.number));
end;
$$;
