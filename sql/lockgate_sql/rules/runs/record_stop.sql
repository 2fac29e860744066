create function lockgate.record_stop(
  p_run lockgate_store.runs,
  p_kind text,
  p_reason text
)
  returns void
  language plpgsql volatile
as $$
-- Records a stop on one run, once; its drive honours it at the next boundary. An abort outranks
-- an interrupt that is already there.
begin
  update lockgate_store.runs r
     set stop_kind = p_kind,
         stop_reason = p_reason,
         stop_requested_at = lockgate.now()
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id
     and (r.stop_kind is null or r.stop_kind = 'interrupt' and p_kind = 'abort');
end;
$$;
