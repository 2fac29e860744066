create function lockgate.bad_request_key(p_request_key text)
  returns boolean
  language sql immutable
as $$
-- Says whether a key, where there is one, is not 1 to 128 characters of [A-Za-z0-9._:-].
select coalesce(
  length(p_request_key) not between 1 and 128 or p_request_key ~ '[^A-Za-z0-9._:-]', false)
$$;
