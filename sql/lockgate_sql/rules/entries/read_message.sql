create function lockgate.read_message(p_message jsonb)
  returns jsonb
  language plpgsql immutable
as $$
-- Reads what a caller may send as a message, a text or a list of user messages, as the list of
-- user messages with content parts; null where it is not of that form or says nothing.
declare
  v_message jsonb;
  v_content jsonb;
  v_messages jsonb := '[]'::jsonb;
begin
  if jsonb_typeof(p_message) = 'string' and p_message <> '""' then
    return jsonb_build_array(jsonb_build_object('role', 'user', 'content', jsonb_build_array(
      jsonb_build_object('type', 'text', 'text', p_message))));
  end if;
  if p_message is null or jsonb_typeof(p_message) <> 'array' or p_message = '[]' then
    return null;
  end if;
  for v_message in select e.value from jsonb_array_elements(p_message) e loop
    if jsonb_typeof(v_message) <> 'object' or v_message - '{role,content,id}'::text[] <> '{}' then
      return null;
    end if;
    v_content := lockgate.read_content(v_message -> 'content');
    if v_content is null or v_message ->> 'role' is distinct from 'user'
       or jsonb_typeof(v_message -> 'id') <> 'string' then
      return null;
    end if;
    v_messages := v_messages || jsonb_build_array(
      v_message || jsonb_build_object('content', v_content));
  end loop;
  return v_messages;
end;
$$;
