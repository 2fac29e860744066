create function lockgate.read_content(p_content jsonb)
  returns jsonb
  language plpgsql immutable
as $$
-- Reads a user message's content, a text or a list of text and file parts, as the list of parts;
-- null where it is not of that form or says nothing. A list has at most 1,000 parts.
begin
  if p_content is null or p_content in ('""', '[]') then
    return null;
  end if;
  if jsonb_typeof(p_content) = 'string' then
    return jsonb_build_array(jsonb_build_object('type', 'text', 'text', p_content));
  end if;
  if jsonb_typeof(p_content) <> 'array' or jsonb_array_length(p_content) > 1000 then
    return null;
  end if;
  if exists (
    select from jsonb_array_elements(p_content) e
     where case
             when jsonb_typeof(e.value) <> 'object' then true
             when e.value -> 'type' = '"text"' then
               e.value - '{type,text}'::text[] <> '{}'
               or jsonb_typeof(e.value -> 'text') is distinct from 'string'
               or e.value -> 'text' = '""'
             when e.value -> 'type' = '"file"' then
               e.value - '{type,mediaType,url,filename}'::text[] <> '{}'
               or jsonb_typeof(e.value -> 'mediaType') is distinct from 'string'
               or jsonb_typeof(e.value -> 'url') is distinct from 'string'
               or jsonb_typeof(coalesce(e.value -> 'filename', '""')) <> 'string'
             else true
           end)
  then
    return null;
  end if;
  return p_content;
end;
$$;
