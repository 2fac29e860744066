create function lockgate.read_message(p_message jsonb)
  returns jsonb
  language plpgsql immutable
as $$
-- Reads what a caller may send as a message, a text or a list of user messages, as the list of
-- user messages with content parts; null where it is not of that form or says nothing. A list has
-- at most 1,000 messages.
declare
  v_messages jsonb;
  v_are_of_the_form boolean;
begin
  if jsonb_typeof(p_message) = 'string' and p_message <> '""' then
    return jsonb_build_array(jsonb_build_object('role', 'user', 'content', jsonb_build_array(
      jsonb_build_object('type', 'text', 'text', p_message))));
  end if;
  if p_message is null or jsonb_typeof(p_message) <> 'array'
     or jsonb_array_length(p_message) not between 1 and 1000 then
    return null;
  end if;
  select jsonb_agg(m.value || jsonb_build_object('content', m.content) order by m.ordinality),
         bool_and(coalesce(m.content is not null
           and m.value - '{role,content,id}'::text[] = '{}' and m.value ->> 'role' = 'user'
           and jsonb_typeof(coalesce(m.value -> 'id', '""')) = 'string', false))
    into v_messages, v_are_of_the_form
    from (
      select e.value, e.ordinality, case when jsonb_typeof(e.value) = 'object'
               then lockgate.read_content(e.value -> 'content') end as content
        from jsonb_array_elements(p_message) with ordinality e
    ) m;
  return case when v_are_of_the_form then v_messages end;
end;
$$;
