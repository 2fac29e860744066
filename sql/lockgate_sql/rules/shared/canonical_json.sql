create function lockgate.canonical_json(p_value jsonb)
  returns text
  language plpgsql immutable strict
as $$
-- Writes a value so that equal values are equal texts: keys sorted by code point, no white space,
-- numbers by value (1 = 1.0 = 1e0, -0 = 0, and never through a float).
begin
  case jsonb_typeof(p_value)
    when 'object' then
      return (
        select '{' || coalesce(string_agg(
                 to_jsonb(e.key)::text || ':' || lockgate.canonical_json(e.value),
                 ',' order by e.key collate "C"), '') || '}'
          from jsonb_each(p_value) e);
    when 'array' then
      return (
        select '[' || coalesce(string_agg(
                 lockgate.canonical_json(e.value), ',' order by e.ordinality), '') || ']'
          from jsonb_array_elements(p_value) with ordinality e);
    when 'number' then
      return trim_scale(p_value::text::numeric)::text;
    else
      return p_value::text;
  end case;
end;
$$;
