create function lockgate.bad_identity_field(
  p_user_id text,
  p_acting_user_id text,
  p_tags text[],
  p_metadata jsonb,
  p_parent_session_id text,
  p_root_session_id text
)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of a given identity that is not of the form, or null. Indexed text has its
-- cap here; tags are at most 64 of 256 characters, metadata is an object of texts of at most 64 kB
-- in all; who acts for himself names nobody else.
begin
  return case
    when char_length(coalesce(p_user_id, p_acting_user_id)) not between 1 and 256
      or p_user_id <> p_acting_user_id then 'userId'
    when char_length(p_parent_session_id) not between 1 and 256 then 'parentSessionId'
    when char_length(p_root_session_id) not between 1 and 256 then 'rootSessionId'
    when cardinality(p_tags) > 64 or array_ndims(p_tags) > 1
      or exists (select from unnest(p_tags) t where t is null or char_length(t) > 256) then 'tags'
    when p_metadata is null then null
    when jsonb_typeof(p_metadata) <> 'object'
      or octet_length(p_metadata::text) > 65536
      or jsonb_path_exists(p_metadata, 'strict $.* ? (@.type() != "string")') then 'metadata'
  end;
end;
$$;
