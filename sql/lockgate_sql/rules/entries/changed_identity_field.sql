create function lockgate.changed_identity_field(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions
)
  returns text
  language sql immutable
as $$
-- Names the first identity field that differs from what the session was created with, or null.
-- What an entry leaves out keeps the session's value; tags compare as a set.
select case
    when p_session.session_id is null then null
    when p_entry.user_id <> coalesce(p_session.user_id, '') then 'userId'
    when p_entry.tags is not null
      and not (p_entry.tags <@ p_session.tags and p_session.tags <@ p_entry.tags) then 'tags'
    when p_entry.metadata <> p_session.metadata then 'metadata'
    when p_entry.parent_session_id <> coalesce(p_session.parent_session_id, '')
      then 'parentSessionId'
    when p_entry.root_session_id <> coalesce(p_session.root_session_id, '') then 'rootSessionId'
  end
$$;
