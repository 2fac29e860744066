create function lockgate.plan_replay(p_twin lockgate_store.runs, p_entry lockgate.entry)
  returns lockgate.entry_outcome
  language sql immutable
as $$
-- What a run id that already exists means: the same start again, or somebody else's run. A run id
-- is unique in the database, so a run of another session is a conflict too.
select case
    when p_twin.tenant_id = p_entry.tenant_id and p_twin.session_id = p_entry.session_id
      and p_twin.start_digest = p_entry.start_digest then 'replayed'
    else 'rejected'
  end::lockgate.entry_outcome
$$;
