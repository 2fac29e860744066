-- Lockgate: a transactional session runtime for AI agents, inside your own Postgres.
--
-- This file is the one order that works, and the table of contents. To install with psql alone,
-- after DBOS's tables exist in the same database:
--
--   psql -X -1 -v ON_ERROR_STOP=1 -f install.sql
--
-- Two schemas. lockgate_store keeps what must survive. lockgate holds the rules: functions, result
-- types and views, which every install remakes. An application calls functions and sends no other
-- SQL; role lockgate_runtime may execute the public ones and touches no table.
--
-- The doors     start, resume, retry, create_session: an entry into a session. status, snapshot,
--               read_stream, get_… and list_…: reads, each of one consistent look.
--               delete_session: a session and all below it go. claim_settlements,
--               mark_delivered: what has settled, for any consumer. commit_run_start,
--               commit_terminal, update_run_status, close_stream: for a store client that drives
--               runs itself. The rest is what a worker calls.
-- One gate      every entry locks the session's row, reads who holds its request key, decides, and
--               writes the run together with the workflow that drives it, in one commit.
-- Lock order    session row, run rows, stream row, tool-call rows, DBOS's rows last.
-- Answers       what may happen is a row whose first field is an outcome; what must not happen is
--               an error of class LG. READ COMMITTED only.
\ir tables/schema.sql
\ir tables/sessions.sql
\ir tables/runs.sql
\ir tables/request_keys.sql
\ir tables/messages.sql
\ir tables/checkpoints.sql
\ir tables/streams.sql
\ir tables/stream_chunks.sql
\ir tables/tool_calls.sql
\ir tables/settlements.sql
\ir tables/consumers.sql
\ir tables/deliveries.sql
\ir tables/recoveries.sql
\ir tables/workers.sql
\ir rules/reset.sql
\ir rules/shared/now.sql
\ir rules/shared/is_live.sql
\ir rules/shared/drive_version.sql
\ir rules/shared/require_read_committed.sql
\ir rules/shared/require.sql
\ir rules/shared/lock_session.sql
\ir rules/shared/canonical_json.sql
\ir rules/shared/sha256_hex.sql
\ir rules/shared/enqueue_drive.sql
\ir rules/shared/check_installation.sql
\ir rules/policies/entry_policies.sql
\ir rules/policies/drive_admissions.sql
\ir rules/policies/run_transitions.sql
\ir rules/recovery/worker_is_alive.sql
\ir rules/recovery/drive_is_served.sql
\ir rules/runs/is_executing.sql
\ir rules/entries/entry_result.sql
\ir rules/request_keys/bad_request_key.sql
\ir rules/request_keys/request_digest.sql
\ir rules/request_keys/plan_keyed_entry.sql
\ir rules/entries/start_digest.sql
\ir rules/entries/read_content.sql
\ir rules/entries/read_message.sql
\ir rules/entries/bad_address_field.sql
\ir rules/entries/bad_identity_field.sql
\ir rules/entries/bad_plan_field.sql
\ir rules/entries/bad_start_field.sql
\ir rules/entries/bad_checkpoint_id.sql
\ir rules/entries/bad_resume_field.sql
\ir rules/entries/plan_replay.sql
\ir rules/entries/rewind.sql
\ir rules/entries/entry_scene.sql
\ir rules/entries/entry_decision.sql
\ir rules/entries/reject_entry.sql
\ir rules/entries/entry_answer.sql
\ir rules/entries/broken_expectation.sql
\ir rules/entries/changed_identity_field.sql
\ir rules/entries/count_before_failure.sql
\ir rules/entries/find_rewind.sql
\ir rules/entries/read_scene.sql
\ir rules/entries/session_standing.sql
\ir rules/entries/refuse_drive.sql
\ir rules/entries/decide_entry.sql
\ir rules/entries/look_ahead.sql
\ir rules/entries/insert_session.sql
\ir rules/entries/answer_refused_insert.sql
\ir rules/entries/is_continued.sql
\ir rules/entries/rewind_history.sql
\ir rules/entries/give_session.sql
\ir rules/entries/begin_run.sql
\ir rules/entries/enter.sql
\ir rules/entries/read_start.sql
\ir rules/entries/start.sql
\ir rules/entries/read_reentry.sql
\ir rules/entries/read_resume.sql
\ir rules/entries/resume.sql
\ir rules/entries/read_retry.sql
\ir rules/entries/retry.sql
\ir rules/entries/plan_identity.sql
\ir rules/entries/plan_entry.sql
\ir rules/entries/plan_start.sql
\ir rules/entries/plan_resume.sql
\ir rules/entries/plan_retry.sql
\ir rules/streams/make_chunk.sql
\ir rules/streams/write_chunks.sql
\ir rules/streams/open_stream.sql
\ir rules/streams/stream_end.sql
\ir rules/streams/end_stream.sql
\ir rules/streams/append_chunks.sql
\ir rules/streams/answer_refused_append.sql
\ir rules/streams/list_chunks.sql
\ir rules/streams/read_stream.sql
\ir rules/streams/moved_streams.sql
\ir rules/sessions/append_message.sql
\ir rules/sessions/append_messages.sql
\ir rules/sessions/list_history.sql
\ir rules/sessions/list_result.sql
\ir rules/sessions/empty_list.sql
\ir rules/sessions/bad_page_field.sql
\ir rules/tool_calls/announced_id.sql
\ir rules/tool_calls/register_calls.sql
\ir rules/tool_calls/list_calls.sql
\ir rules/tool_calls/awaited_calls.sql
\ir rules/tool_calls/call_parts.sql
\ir rules/tool_calls/call_chunks.sql
\ir rules/tool_calls/result_part.sql
\ir rules/tool_calls/not_executed.sql
\ir rules/tool_calls/pair_calls.sql
\ir rules/settlement/consumers_lock.sql
\ir rules/settlement/record_settlement.sql
\ir rules/settlement/register_consumer.sql
\ir rules/settlement/claim_settlements.sql
\ir rules/settlement/mark_delivered.sql
\ir rules/runs/create_run.sql
\ir rules/runs/set_run_ended.sql
\ir rules/runs/put_run_back.sql
\ir rules/runs/settle_replaced_run.sql
\ir rules/runs/record_stop.sql
\ir rules/runs/cancelled_detail.sql
\ir rules/runs/end_run.sql
\ir rules/runs/end_stopped_run.sql
\ir rules/runs/get_run.sql
\ir rules/runs/decide_run_transition.sql
\ir rules/runs/set_run_live.sql
\ir rules/runs/fence_run.sql
\ir rules/runs/follow_run.sql
\ir rules/runs/bad_run_start_field.sql
\ir rules/runs/run_start_digest.sql
\ir rules/runs/decide_run_start.sql
\ir rules/runs/commit_run_start.sql
\ir rules/runs/commit_terminal.sql
\ir rules/runs/update_run_status.sql
\ir rules/streams/close_stream.sql
\ir rules/runs/get_current_run.sql
\ir rules/runs/get_run_by_request_key.sql
\ir rules/runs/list_runs.sql
\ir rules/sessions/create_session.sql
\ir rules/sessions/answer_existing_session.sql
\ir rules/sessions/fail_session_without_run.sql
\ir rules/sessions/status.sql
\ir rules/sessions/snapshot.sql
\ir rules/sessions/list_messages.sql
\ir rules/sessions/list_checkpoints.sql
\ir rules/sessions/bad_filter_field.sql
\ir rules/sessions/session_item.sql
\ir rules/sessions/list_sessions.sql
\ir rules/sessions/list_tree.sql
\ir rules/sessions/erase_session.sql
\ir rules/sessions/delete_session.sql
\ir rules/steps/lock_attempt.sql
\ir rules/steps/step_result.sql
\ir rules/steps/step_answer.sql
\ir rules/steps/claim_run.sql
\ir rules/steps/close_step.sql
\ir rules/steps/close_answered_step.sql
\ir rules/steps/commit_reply.sql
\ir rules/steps/commit_result.sql
\ir rules/steps/commit_step.sql
\ir rules/steps/finish_run.sql
\ir rules/recovery/heartbeat.sql
\ir rules/recovery/drive_workflow.sql
\ir rules/recovery/is_stranded.sql
\ir rules/recovery/end_unless_recoverable.sql
\ir rules/recovery/requeue_run.sql
\ir rules/recovery/begin_attempt.sql
\ir rules/recovery/sweep.sql
\ir rules/recovery/list_stops.sql
\ir rules/recovery/wake_workers.sql
\ir rules/recovery/listen_for_drives.sql
\ir views/run_ledger.sql
\ir views/live_runs.sql
\ir views/session_overview.sql
\ir views/worker_health.sql
\ir views/settlement_lag.sql
\ir grants.sql
