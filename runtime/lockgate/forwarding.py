"""Submits that another host owns: sent on by the application, and the owner's answer relayed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from lockgate.client_answers import Submitted, ToolAnswer
from lockgate.contained import called
from lockgate.errors import EntryRefused
from lockgate.requests import Actor
from lockgate.scrub import scrub

EXTRA_S = 1.0  # past the owner's own bound: it answers first, if it answers at all


@dataclass(frozen=True, slots=True)
class Submit:
    """A submit as it is sent on; `wire` is the body of the route."""

    session_id: str
    tool_call_id: str
    answer: ToolAnswer
    actor: Actor

    def wire(self) -> dict[str, Any]:
        """Return the body of the owner's POST submit-tool-result."""
        given = {"sessionId": self.session_id, "toolCallId": self.tool_call_id}
        return {**self.answer.wire(), **given}


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What the owning host answered over HTTP: its status, and its body if that was JSON."""

    status: int
    body: Any


class SubmitForwarder(Protocol):
    """Sends a submit of a session unknown here to the host that owns it; None where none does."""

    async def __call__(self, submit: Submit) -> PeerAnswer | None: ...


async def forwarded(forwarder: SubmitForwarder, submit: Submit, bound_s: float) -> Submitted | None:
    """Send a submit on, and return or raise what its owner says; None where nobody owns it.

    bound_s  the owner's bound: it is waited for one second more
    Errors   EntryRefused: the owner's own, with its status; transport_error, retryable unless the
             owner is there and knows nothing of submits
    Source   reference/http.md 7.4
    """
    try:
        async with asyncio.timeout(bound_s + EXTRA_S):
            answer: PeerAnswer | None = await called(forwarder, submit)
    except Exception as error:
        raise EntryRefused(
            "transport_error", "The session's host did not answer; submit again", cause=error
        ) from error
    if answer is None:
        return None
    body = answer.body if isinstance(answer.body, Mapping) else {}
    is_success = 200 <= answer.status < 300
    is_refusal = 400 <= answer.status < 600
    if is_refusal and all(isinstance(body.get(name), str) for name in ("error", "code")):
        raise _relayed(answer.status, body)
    accepted = _submitted(submit, body) if is_success else None
    if accepted is None:
        raise EntryRefused(
            "transport_error",
            "The session's host gave no answer of a submit",
            retryable=not 400 <= answer.status < 500,
        )
    return accepted


def _submitted(submit: Submit, body: Mapping[str, Any]) -> Submitted | None:
    """Read a success, or nothing."""
    if body.get("status") not in ("accepted", "already_completed"):
        return None
    run_id, approved = body.get("runId"), body.get("approved")
    try:
        return Submitted(
            submit.tool_call_id,
            body["status"],
            UUID(run_id) if isinstance(run_id, str) else None,
            approved if isinstance(approved, bool) else None,
        )
    except ValueError:
        return None


def _relayed(status: int, body: Mapping[str, Any]) -> EntryRefused:
    """Make the owner's refusal ours: its status, its code, and its texts scrubbed."""
    named = ("cause", "runId", "field", "toolName", "toolCallId")
    told: dict[str, Any] = {"error": scrub(body["error"]), "code": scrub(body["code"], 64)}
    if isinstance(body.get("retryable"), bool):
        told["retryable"] = body["retryable"]
    told |= {name: scrub(body[name]) for name in named if isinstance(body.get(name), str)}
    return EntryRefused(
        told["code"],
        told["error"],
        retryable=told.get("retryable", status == 503),
        field=told.get("field"),
        run_id=told.get("runId"),
        cause=told.get("cause"),
        response={"status": status, "body": told},
    )
