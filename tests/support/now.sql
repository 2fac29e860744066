-- The tests' clock, installed over the real one in the template of the rules' tests only: it stands
-- where lockgate.fake_now says, and is the real clock where that says nothing.
create or replace function lockgate.now()
  returns timestamptz
  language sql volatile
as $$
select coalesce(
  nullif(current_setting('lockgate.fake_now', true), '')::timestamptz, clock_timestamp())
$$;
