create function lockgate.enqueue_drive(
  p_tenant_id text,
  p_session_id text,
  p_run_id uuid,
  p_drive_id uuid,
  p_not_before timestamptz default null,
  p_deaths integer default 0,
  p_is_next boolean default false
)
  returns void
  language plpgsql volatile set search_path = dbos, pg_temp
as $$
-- Hands one attempt to the drive queue, in the caller's transaction, as its last write: so there
-- is no run without a drive and no drive without a run. p_drive_id is minted by the caller's
-- commit: for a known id DBOS answers and enqueues nothing. The drive is told of p_deaths
-- before it claims: what its workers died of twice is begun alone. What p_is_next goes ahead of
-- all that has never been begun: whoever waits for a lost run has waited for it before.
--
-- What is not to begin before p_not_before waits until lockgate.requeue_run ends its wait, by our
-- clock. DBOS would do it by the clock of some worker, so it is told of a time a day later: that
-- is for a fleet in which nobody sweeps.
--
-- Locks     none of ours; DBOS's rows come last
-- Writes    DBOS's workflow row. The pinned search_path is what names DBOS's schema.
begin
  perform enqueue_workflow(
    workflow_name => 'drive_run',
    queue_name => 'lockgate_drives',
    positional_args => array[
        to_json(p_tenant_id), to_json(p_session_id), to_json(p_run_id), to_json(p_drive_id)]
      || case when p_deaths > 0 then array[to_json(p_deaths)] end,
    workflow_id => p_drive_id::text,
    app_version => lockgate.drive_version(),
    priority => case when p_is_next then 0 else 1 end,  -- DBOS takes the lowest first
    delay_until_epoch_ms => (extract(epoch from p_not_before + interval '1 day') * 1000)::bigint,
    application_name => 'lockgate');
end;
$$;
