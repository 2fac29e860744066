create function lockgate.fence_run(p_run lockgate_store.runs)
  returns void
  language plpgsql volatile
as $$
-- Fences whatever a run's drive still sends; who owns it stays on the row. The run is locked.
begin
  update lockgate_store.runs r
     set attempt = r.attempt + 1
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id;
  update lockgate_store.streams s
     set attempt = s.attempt + 1
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id;
end;
$$;
