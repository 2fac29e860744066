"""Where a worker dies: right after its n-th commit for a session, or in the middle of its end.

Armed in a process of its own, before its worker starts. Each commit is noted on the stage before
the process can die of it.
"""

import os
from dataclasses import dataclass
from typing import Any, Protocol

from lockgate.database import Database
from lockgate.ending import EndStep
from lockgate.rules import children, recovery, steps, streams
from tests.support.stage import Stage

COMMITS = (
    steps.claim_run,
    streams.append_chunks,
    steps.commit_reply,
    steps.commit_result,
    steps.commit_step,
    steps.begin_call,
    children.start_child,
    children.record_remote_child,
    children.await_child,
    recovery.requeue_run,
)
CRASHED = 9  # the exit code of whoever died here


@dataclass(frozen=True)
class Crash:
    """Die after the n-th commit, inside the transaction that ends a run, or right after that.

    at  or after the first commit of this rule
    """

    after: int | None = None
    at: str | None = None
    inside_end: bool = False
    after_end: bool = False


class Counter(Protocol):
    """Who is told of each commit of this process, right after it, and may die of it."""

    def committed(self, rule: str, given: dict[str, Any], answer: Any) -> None: ...
    def ending(self) -> None: ...


class _Counter:
    def __init__(self, crash: Crash, stage: Stage) -> None:
        self._crash = crash
        self._stage = stage
        self._count = 0

    def committed(self, rule: str, given: dict[str, Any], answer: Any) -> None:
        """Note a commit, and die of it if it is the one."""
        self._count += 1
        named = {name: given.get(name) for name in ("step", "ordinal", "status")}
        self._stage.note("commit", run=given["run_id"], rule=rule, n=self._count, **named)
        ended = self._crash.after_end and rule in ("finish_run", "suspend_run")
        if ended or rule == self._crash.at or self._count == self._crash.after:
            self._die(rule)

    def ending(self) -> None:
        if self._crash.inside_end:
            self._die("inside the end")

    def _die(self, where: str) -> None:
        self._stage.note("crash", where=where, n=self._count)
        os._exit(CRASHED)


def arm(crash: Crash, stage: Stage) -> None:
    """Make this process die there."""
    tell_commits(_Counter(crash, stage))


def tell_commits(counter: Counter) -> None:
    """Tell somebody of all that this process commits for its runs."""
    call_once, end = Database.call_once, EndStep.__call__
    end_inside = EndStep._end

    async def counted_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        answer = await call_once(self, rule, *args, **given)
        if rule in COMMITS:
            counter.committed(rule.__name__, given, answer)
        return answer

    async def counted_end(self: EndStep, rule: str, **given: Any) -> dict[str, Any]:
        answer = await end(self, rule, **given)
        counter.committed(rule, given, answer)
        return answer

    async def cut_end(self: EndStep, rule: str, given: dict[str, Any]) -> dict[str, Any]:
        answer = await end_inside(self, rule, given)
        counter.ending()
        return answer

    Database.call_once = counted_call  # type: ignore[method-assign]
    EndStep.__call__ = counted_end  # type: ignore[method-assign]
    EndStep._end = cut_end  # type: ignore[method-assign]
