"""Children on another host, as a parent's drive runs them: recorded, started, asked until they end.

The record is made before the host is asked, so whoever comes back after a crash asks for the same
child again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid5

from lockgate.errors import EntryRefused, error_detail
from lockgate.remote import (
    CHILD_RESUME_TIMEOUT_S,
    ChildAddress,
    ChildBusy,
    ChildHost,
    ChildStatus,
    ChildUnconfirmed,
    lost,
)
from lockgate.requests import Start
from lockgate.rules import children as rules
from lockgate.scope import Scope
from lockgate.strict_json import dumps
from lockgate.tools import MAX_RESULT
from lockgate.worker_outcomes import StartChildOutcome, StartChildResult

STATUS_EVERY_S = 1.0  # how often a remote child is asked how it stands
LOST_AFTER_S = CHILD_RESUME_TIMEOUT_S + 60.0  # a child that nobody can read for so long is lost


@dataclass(frozen=True, slots=True)
class ChildCall:
    """The call that makes a child."""

    id: str
    step: int
    ordinal: int

    @classmethod
    def of(cls, call: Mapping[str, Any]) -> ChildCall:
        """Return it as the store names it."""
        return cls(call["toolCallId"], int(call["step"]), int(call["ordinal"]))


@dataclass(frozen=True, slots=True)
class NewChild:
    """What child a call makes, and what it is told."""

    agent_type: str
    given: Mapping[str, Any]
    mode: Literal["subagent", "blocking", "background"] = "subagent"
    name: str | None = None

    async def recorded(self, scope: Scope, call: ChildCall) -> dict[str, Any]:
        """Return what the rule that records it takes, with what it counts as used."""
        entry = {"kind": "subagent", "source": "subagent", "agentType": self.agent_type}
        return {
            **scope.address,
            "tool_call_id": call.id,
            "agent_type": self.agent_type,
            "mode": self.mode,
            "name": self.name,
            "usage": await scope.used(call.step, f"{call.ordinal}:child", [entry]),
        }


class NameTaken(EntryRefused):
    """Another companion of the session has that name."""

    def __init__(self, name: str | None) -> None:
        super().__init__(
            "validation_error", f"There is a companion named {name!r}: send it a message"
        )


async def begin_remote(
    scope: Scope, host: ChildHost, call: ChildCall, new: NewChild
) -> ChildAddress:
    """Record a child on another host, and have it started there, once for each call.

    A child that runs there already, under the id that is this call's alone, is the one that an
    attempt before us has started. Only the host's word ALREADY_RUNNING says so.
    Errors  ChildUnconfirmed; the host's refusal, which is the child's end
    """
    recorded = await new.recorded(scope, call)
    child = child_of(scope, call, new)
    answer = await scope.writer.beside(
        lambda: scope.around.database.call(
            rules.record_remote_child, **recorded, child_session_id=child.session_id
        )
    )
    refuse_taken(answer, new.name)
    if answer.outcome is StartChildOutcome.REPEATED:
        if answer.status == "failed":  # Refused before, and whoever heard why is gone.
            raise EntryRefused("transport_error", "The child did not start", retryable=False)
        if await _is_there(host, child):
            return child
    try:
        await host.start(start_request(scope, child, new.given))
    except ChildBusy:
        return child
    except ChildUnconfirmed:
        raise
    except EntryRefused as error:
        await end_remote(scope, child, ChildStatus("failed", error_detail=error_detail(error)))
        raise
    return child


def child_of(scope: Scope, call: ChildCall, new: NewChild) -> ChildAddress:
    """Return the address of a call's remote child: the same for every try."""
    return ChildAddress(str(uuid5(scope.run_id, call.id)), new.agent_type)


def start_request(scope: Scope, child: ChildAddress, given: Mapping[str, Any]) -> Start:
    """Return the start of a child of this session: whose it is, it has from its parent."""
    identity = scope.identity
    return Start(
        child.session_id,
        child.agent_type,
        given["message"],
        state=given.get("state"),
        user_id=identity.user_id,
        tags=identity.tags,
        metadata=identity.metadata,
        parent_session_id=scope.session_id,
        root_session_id=identity.root_session_id or scope.session_id,
    )


async def run_remote(scope: Scope, host: ChildHost, call: ChildCall, new: NewChild) -> None:
    """Start a remote child and wait for its end, which answers the call; a refusal is one too."""
    try:
        child = await begin_remote(scope, host, call, new)
    except ChildUnconfirmed:
        child = child_of(scope, call, new)  # Whether it has started, its status will say.
    except NameTaken:
        raise
    except EntryRefused:
        return  # It is the child's end by now, and so the answer.
    await follow_remote(scope, host, child)


async def follow_remote(scope: Scope, host: ChildHost, child: ChildAddress) -> None:
    """Ask a remote child how it stands until it has ended, or is lost; record its end.

    Nobody was silent while this worker was away itself, so its silence begins anew then.
    Errors  RunSuperseded: the attempt is over
    """
    readable, lapses = time.monotonic(), scope.around.lapses()
    while True:
        status, reason = None, None
        try:
            status = await host.status(child)
        except EntryRefused as error:
            reason = _lost_because(error)
        silent_s = time.monotonic() - readable
        await scope.hold_to_the_claim()
        was_away, lapses = scope.around.lapses() != lapses, scope.around.lapses()
        if status is not None or was_away:
            readable = time.monotonic()
        elif reason is None and silent_s > LOST_AFTER_S:
            reason = "status_unreachable"
        if reason is not None:
            status = ChildStatus("failed", error_detail=lost(reason))
        if status is not None and status.is_idle:
            return await end_remote(scope, child, status)
        await asyncio.sleep(STATUS_EVERY_S)


def _lost_because(error: EntryRefused) -> str | None:
    """Say why a child that answers so is lost, or nothing where it may be asked again.

    Only a typed refusal stands: what a gateway says in between is no word of the child's host.
    """
    if error.code == "NOT_FOUND":
        return "not_found"
    if error.code == "transport_error" or error.retryable:
        return None
    return f"refused:{error.code}"


async def end_remote(scope: Scope, child: ChildAddress, status: ChildStatus) -> None:
    """Record how a remote child ended; an output that no history should carry is its failure."""
    output = None if status.output is None else dumps(status.output)
    if output is not None and len(output) > MAX_RESULT:
        refused = EntryRefused("validation_error", "The child's output has more than 1 MB of JSON")
        status, output = ChildStatus("failed", error_detail=error_detail(refused)), None
    detail = status.error_detail
    await scope.record(
        rules.end_remote_child,
        child_session_id=child.session_id,
        status=status.status,
        output=output,
        error_detail=None if detail is None else dumps(detail),
    )


async def _is_there(host: ChildHost, child: ChildAddress) -> bool:
    """Ask for a child that was recorded before. Errors  ChildUnconfirmed: its host does not say"""
    try:
        await host.status(child)
    except EntryRefused as error:
        if error.code != "NOT_FOUND":
            raise ChildUnconfirmed(error) from error
        return False
    return True


def refuse_taken(answer: StartChildResult, name: str | None) -> None:
    """Refuse a companion's name that another one has. Errors  NameTaken"""
    if answer.outcome is StartChildOutcome.NAME_TAKEN:
        raise NameTaken(name)
