create function lockgate.give_session(
  p_entry lockgate.entry,
  p_run lockgate_store.runs,
  p_is_new boolean,
  p_is_cut_back boolean,
  p_restored_state jsonb,
  p_message_count integer
)
  returns void
  language plpgsql volatile
as $$
-- Makes a new run the session's current one. What the last run came to is cleared; what the entry
-- brings is merged into the state at the top level, and a rewind brings back the state of then; one
-- that keeps the state may have cut away the checkpoint that kept it.
begin
  update lockgate_store.sessions s
     set status = p_entry.session_status,
         current_run_id = p_run.run_id,
         turn_count = p_run.turn,
         first_run_due = false,
         end_due = false,
         version = s.version + 1,
         state = case
           when p_is_new or p_entry.state is null then coalesce(p_restored_state, s.state)
           else s.state || p_entry.state end,
         state_is_new = p_restored_state is null
           and (s.state_is_new or p_is_cut_back
             or not p_is_new and coalesce(p_entry.state <> '{}', false)),
         output = null,
         error_detail = null,
         message_count = p_message_count,
         updated_at = p_run.started_at
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
end;
$$;
