"""Which commits there are to be lost at, and at which of them a session stands still."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lockgate.rules import (
    children,
    entries,
    recovery,
    sessions,
    settlement,
    steps,
    stops,
    streams,
    tool_calls,
    usage,
)

# What writes for a session. A claim of settlements is for many, and a heartbeat for none.
COMMITS = (
    *(steps.claim_run, streams.append_chunks, steps.begin_call, steps.commit_reply),
    *(steps.commit_result, steps.commit_step, children.start_child, children.await_child),
    *(children.record_remote_child, children.record_child_running, children.end_remote_child),
    *(entries.start, entries.resume, entries.retry, stops.interrupt, stops.abort),
    *(sessions.create_session, sessions.fail_session_without_run, sessions.delete_session),
    *(tool_calls.submit_tool_result, usage.record_usage_entries),
    *(
        recovery.requeue_run,
        recovery.continue_session,
        recovery.complete_end,
        settlement.mark_delivered,
    ),
)
When: TypeAlias = Literal["after", "sent", "before"]
Whose: TypeAlias = Literal["family", "root", "child"]


@dataclass(frozen=True)
class Point:
    """Where a session stands still.

    n      at its n-th commit of those that count
    when   after: it is committed, and its answer read; sent: it is on its way when the process
           dies, and nobody reads the answer; before: it is not sent, or its transaction is open
    rule   the rule whose commits count; by default all but the appends of chunks, of which there
           are more or fewer by chance
    whose  of which sessions: a root with all its children, or without, or those alone
    """

    n: int
    when: When
    rule: str | None = None
    whose: Whose = "family"

    def counts(self, rule: str) -> bool:
        return rule == self.rule if self.rule else rule != "append_chunks"


@dataclass(frozen=True)
class Standstill:
    """Where each session stands, by the id of its root."""

    points: Mapping[str, Point]
