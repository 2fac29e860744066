create function lockgate.run_start_digest(p_entry lockgate.entry, p_keep_messages integer)
  returns text
  language plpgsql immutable
as $$
-- The fingerprint of a store client's run start: all that it writes. What it expects, and whom it
-- displaces, is left out, so that the repeat of a commit of unknown outcome still matches.
begin
  return lockgate.sha256_hex(concat_ws('/',
    'store-v1', p_entry.run_id, p_entry.drive, p_entry.session_status,
    coalesce(p_keep_messages::text, ''),
    coalesce(p_entry.request_key, ''), coalesce(p_entry.request_digest, ''),
    lockgate.canonical_json(coalesce(p_entry.messages, '[]')),
    lockgate.canonical_json(coalesce(p_entry.state, '{}'))));
end;
$$;
