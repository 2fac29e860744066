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
declare
  v_id text := p_model_call_id;
  v_number integer := 1;
begin
  if v_id is null or char_length(v_id) not between 1 and 256 or v_id ~ '[[:cntrl:]]' then
    return concat_ws('_', 'call', replace(p_run.run_id::text, '-', ''), p_step, p_ordinal);
  end if;
  while exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.tool_call_id = v_id)
  loop
    v_number := v_number + 1;
    v_id := p_model_call_id || '_' || v_number;
  end loop;
  return v_id;
end;
$$;
