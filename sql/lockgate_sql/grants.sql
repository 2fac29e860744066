-- Who may call and read what; the only file that grants. Roles are named by the settings
-- lockgate.runtime_role and lockgate.dashboard_role, DBOS's schema by lockgate.dbos_schema.
-- Install makes the roles if it may; where it may not, it says what a DBA must run.
revoke all on all functions in schema lockgate from public;

do $$
declare
  v_runtime text := coalesce(
    nullif(current_setting('lockgate.runtime_role', true), ''), 'lockgate_runtime');
  v_dashboard text := coalesce(
    nullif(current_setting('lockgate.dashboard_role', true), ''), 'lockgate_dashboard');
  v_dbos text := coalesce(nullif(current_setting('lockgate.dbos_schema', true), ''), 'dbos');
  v_may_create boolean := (
    select r.rolsuper or r.rolcreaterole from pg_roles r where r.rolname = current_user);
  v_name text;
begin
  execute format('alter function lockgate.enqueue_drive set search_path = %I, pg_temp', v_dbos);
  execute format('alter function lockgate.drive_workflow set search_path = %I, pg_temp', v_dbos);
  execute format('alter function lockgate.release_drive set search_path = %I, pg_temp', v_dbos);

  foreach v_name in array array[v_runtime, v_dashboard] loop
    if to_regrole(quote_ident(v_name)) is null and v_may_create then
      execute format('create role %I nologin', v_name);
    elsif to_regrole(quote_ident(v_name)) is null then
      raise warning 'role % does not exist and % may not create it: nothing is granted to it',
        v_name, current_user
        using hint = format(
          'as a role that may, run: create role %I nologin; then install again', v_name);
    end if;
  end loop;

  if to_regrole(quote_ident(v_runtime)) is not null then
    execute format('grant usage on schema lockgate to %I', v_runtime);
    foreach v_name in array array[
      'start', 'plan_start', 'resume', 'plan_resume', 'retry', 'plan_retry',
      'create_session', 'fail_session_without_run', 'status', 'snapshot', 'get_run',
      'read_stream', 'moved_streams', 'append_chunks',
      'get_current_run', 'get_run_by_request_key', 'list_runs', 'list_messages',
      'list_checkpoints', 'list_sessions', 'delete_session',
      'commit_run_start', 'commit_terminal', 'update_run_status', 'close_stream',
      'submit_tool_result', 'plan_submit', 'interrupt', 'abort', 'list_children', 'usage_rollup',
      'record_usage_entries', 'list_usage_entries',
      'claim_run', 'begin_call', 'commit_reply', 'commit_result', 'commit_step', 'suspend_run',
      'finish_run',
      'start_child', 'record_remote_child', 'await_child', 'list_ancestors',
      'record_child_running', 'end_remote_child',
      'heartbeat', 'sweep', 'requeue_run', 'continue_session', 'complete_end', 'list_stops',
      'wake_workers', 'listen_for_drives', 'list_stranded_runs', 'recovery_metrics',
      'claim_settlements', 'mark_delivered', 'drive_version', 'check_installation'
    ] loop
      execute format('grant execute on function lockgate.%I to %I', v_name, v_runtime);
    end loop;
  end if;

  if to_regrole(quote_ident(v_dashboard)) is not null then
    execute format('grant usage on schema lockgate to %I', v_dashboard);
    execute format(
      'grant select on lockgate.run_ledger, lockgate.live_runs, lockgate.session_overview,
         lockgate.worker_health, lockgate.stranded_runs, lockgate.settlement_lag,
         lockgate.entry_policies, lockgate.drive_admissions, lockgate.run_transitions to %I',
      v_dashboard);
    -- A view's functions are called with its reader's rights.
    execute format(
      'grant execute on function lockgate.list_stranded_runs, lockgate.recovery_metrics to %I',
      v_dashboard);
  end if;
end;
$$;
