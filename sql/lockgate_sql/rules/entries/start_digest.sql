create function lockgate.start_digest(p_entry lockgate.entry)
  returns text
  language plpgsql immutable
as $$
-- The fingerprint of a whole start: run id, drive, key and the digest of its input, which covers
-- agent type, messages and state. Preconditions are left out, so that a planner's repeat of a
-- commit of unknown outcome still matches.
begin
  return lockgate.sha256_hex(concat_ws('/',
    'v1', p_entry.run_id, p_entry.drive, coalesce(p_entry.request_key, ''),
    p_entry.request_digest));
end;
$$;
