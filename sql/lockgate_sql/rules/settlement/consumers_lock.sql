create function lockgate.consumers_lock()
  returns bigint
  language sql immutable
as $$
-- The key of the advisory lock between those who settle and those who register as consumers.
select hashtextextended('lockgate.consumers', 0)
$$;
