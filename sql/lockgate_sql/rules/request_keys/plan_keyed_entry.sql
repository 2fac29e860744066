create function lockgate.plan_keyed_entry(
  p_holder lockgate_store.runs,
  p_request_digest text,
  p_current_run_id uuid
)
  returns lockgate.entry_outcome
  language sql immutable
as $$
-- What a repeated key gets, from the run that holds it: other input is a conflict whatever the
-- run's status; a live run, or the session's current one, is attached to; an older one is over.
select case
    when p_holder.request_digest <> p_request_digest then 'request_key_conflict'
    when lockgate.is_live(p_holder.status) or p_holder.run_id = p_current_run_id then 'attached'
    else 'request_already_completed'
  end::lockgate.entry_outcome
$$;
