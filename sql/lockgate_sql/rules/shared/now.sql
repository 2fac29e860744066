create function lockgate.now()
  returns timestamptz
  language sql volatile
as $$
-- The one clock. A rule reads it once, after its lock. The tests install a version of their own
-- that can be moved; this one cannot, since any client may write a custom setting.
select clock_timestamp()
$$;
