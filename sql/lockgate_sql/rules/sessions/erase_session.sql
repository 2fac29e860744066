create function lockgate.erase_session(p_tenant_id text, p_session_id text)
  returns void
  language plpgsql volatile
as $$
-- Deletes every row that names a session, which is locked. The stream's row goes before its
-- chunks: an append under way holds that row alone, and its chunks are there once we have it.
begin
  delete from lockgate_store.runs t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.streams t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.stream_chunks t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.tool_calls t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.messages t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.checkpoints t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.children t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.usage t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.recoveries t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.settlements t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.deliveries t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
  delete from lockgate_store.sessions t
   where t.tenant_id = p_tenant_id and t.session_id = p_session_id;
end;
$$;
