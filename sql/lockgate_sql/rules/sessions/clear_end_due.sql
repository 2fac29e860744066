create function lockgate.clear_end_due(p_run lockgate_store.runs)
  returns void
  language plpgsql volatile
as $$
-- Notes that the end which a store client began to write is whole. The session is locked.
begin
  update lockgate_store.sessions s
     set end_due = false
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
end;
$$;
