create function lockgate.bad_page_field(p_limit integer, p_offset integer)
  returns text
  language sql immutable
as $$
-- Names what is out of range of a page, or null: 1 to 200 items, after none or more. Nothing is
-- clamped, or a caller would take a short page for the last one.
select case
  when p_limit is null or p_limit not between 1 and 200 then 'limit'
  when p_offset is null or p_offset < 0 then 'offset'
end
$$;
