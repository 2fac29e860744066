create function lockgate.sha256_hex(p_text text)
  returns text
  language plpgsql immutable
as $$
-- The digest of a text's UTF-8 bytes, in lower-case hexadecimal.
begin
  return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
end;
$$;
