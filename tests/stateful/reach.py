"""Which outcomes were reached and how often, held against every label that a rule can answer."""

from collections import Counter

from lockgate.codes import RejectCause
from tests.support.connections import Connection

ENTRIES = ("start", "resume", "retry", "commit_run_start")
# By enum: who is asked. Sweeps and requeues reach a finding.
ASKED = {
    "entry_outcome": ENTRIES,
    "create_session_outcome": ("create_session",),
    "fail_session_without_run_outcome": ("fail_session_without_run",),
    "delete_session_outcome": ("delete_session",),
    "commit_terminal_outcome": ("commit_terminal",),
    "update_run_status_outcome": ("update_run_status",),
    "close_stream_outcome": ("close_stream",),
    "claim_run_outcome": ("claim_run",),
    "append_chunks_outcome": ("append_chunks",),
    "step_outcome": ("commit_reply", "commit_result", "commit_step", "begin_call"),
    "suspend_run_outcome": ("suspend_run",),
    "continue_session_outcome": ("continue_session",),
    "complete_end_outcome": ("complete_end",),
    "submit_outcome": ("submit_tool_result",),
    "start_child_outcome": ("start_child",),
    "request_stop_outcome": ("interrupt", "abort"),
    "finish_run_outcome": ("finish_run",),
    "requeue_run_outcome": ("requeue_run",),
    "finding": ("finding",),
    "mark_delivered_outcome": ("mark_delivered",),
}
# What a life cannot reach, with the reason.
OUT_OF_REACH = {
    "delete_session_outcome.again": "needs a second caller: tests/races/test_deletion.py",
    "await_child_outcome": "a companion awaited once more: tests/rules/children",
    "record_child_running_outcome": "a companion told something more: tests/rules/children",
    "end_remote_child_outcome": "a child on another host: tests/rules/children",
    "record_usage_entries_outcome": "an account beside the runs: tests/rules/usage",
    "read_stream_outcome": "a read",
    "list_outcome": "a read",
}
LABELS = b"""
select t.typname, e.enumlabel
  from pg_enum e
  join pg_type t on t.oid = e.enumtypid
 where t.typnamespace = 'lockgate'::regnamespace
 order by t.typname, e.enumsortorder
"""


def unreached(connection: Connection, reached: Counter[str]) -> set[str]:
    """Return each label of an outcome, and each cause, that could be reached and was not."""
    missing = {f"cause.{cause}" for cause in RejectCause if not reached[f"cause.{cause}"]}
    for enum, label in connection.execute(LABELS).fetchall():
        if enum in OUT_OF_REACH or f"{enum}.{label}" in OUT_OF_REACH:
            continue
        if not any(reached[f"{function}.{label}"] for function in ASKED.get(enum, ())):
            missing.add(f"{enum}.{label}")
    return missing


def frequencies(reached: Counter[str]) -> list[str]:
    """Write how often each rule gave each answer, a line for each rule."""
    rules: dict[str, list[str]] = {}
    for name, count in reached.most_common():
        rule, _, label = name.partition(".")
        rules.setdefault(rule, []).append(f"{label} {count:,}".strip())
    return [f"{rule}: {' · '.join(answers)}" for rule, answers in sorted(rules.items())]
