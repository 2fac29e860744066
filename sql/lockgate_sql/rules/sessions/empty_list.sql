create function lockgate.empty_list(p_outcome lockgate.list_outcome, p_field text default null)
  returns lockgate.list_result
  language sql immutable
as $$
-- Answers a list that cannot be read, and says which field is not of the form.
select (p_outcome, '[]', 0, false,
  case when p_field is not null then jsonb_build_object('field', p_field) end
)::lockgate.list_result
$$;
