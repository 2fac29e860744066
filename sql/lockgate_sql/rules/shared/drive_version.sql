create function lockgate.drive_version()
  returns text
  language sql immutable
as $$
-- The protocol between the rows and the code that drives them. It changes only when new code
-- could not go on from the rows, or the arguments, that old code left.
select 'drive-1'
$$;
