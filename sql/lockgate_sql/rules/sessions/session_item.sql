create function lockgate.session_item(p_session lockgate_store.sessions)
  returns jsonb
  language sql stable
as $$
-- A session as an item of a list: what it is and where it stands, null where there is none. State,
-- output and history are read one session at a time.
select jsonb_build_object(
  'sessionId', p_session.session_id, 'agentType', p_session.agent_type,
  'status', p_session.status, 'userId', p_session.user_id, 'tags', p_session.tags,
  'metadata', p_session.metadata, 'parentSessionId', p_session.parent_session_id,
  'rootSessionId', p_session.root_session_id, 'currentRunId', p_session.current_run_id,
  'turnCount', p_session.turn_count, 'messageCount', p_session.message_count,
  'version', p_session.version, 'createdAt', p_session.created_at,
  'updatedAt', p_session.updated_at, 'expiresAt', p_session.expires_at)
$$;
