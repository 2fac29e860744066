create function lockgate.plan_identity(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions
)
  returns jsonb
  language sql immutable
as $$
-- Whose session an entry is about: what the session was made with, or what the entry would make.
select case when p_session.session_id is null
  then jsonb_build_object(
    'userId', coalesce(p_entry.user_id, p_entry.acting_user_id),
    'tags', to_jsonb(coalesce(p_entry.tags, '{}')), 'metadata', coalesce(p_entry.metadata, '{}'),
    'parentSessionId', p_entry.parent_session_id, 'rootSessionId', p_entry.root_session_id)
  else jsonb_build_object(
    'userId', p_session.user_id, 'tags', to_jsonb(p_session.tags),
    'metadata', p_session.metadata, 'parentSessionId', p_session.parent_session_id,
    'rootSessionId', p_session.root_session_id)
  end
$$;
