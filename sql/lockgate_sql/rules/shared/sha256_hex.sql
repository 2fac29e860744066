create function lockgate.sha256_hex(p_text text)
  returns text
  language sql immutable
as $$
-- The digest of a text's UTF-8 bytes, in lower-case hexadecimal.
select encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
$$;
