"""From what the gate answered to a result or a typed error. One line per label; no other place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from lockgate.errors import (
    EntryRefused,
    RequestAlreadyCompleted,
    RequestKeyConflict,
    RunStartRejected,
)
from lockgate.outcomes import (
    CreateSessionOutcome,
    CreateSessionResult,
    EntryOutcome,
    EntryResult,
)

ACCEPTED = (
    EntryOutcome.STARTED,
    EntryOutcome.RESUMED,
    EntryOutcome.ATTACHED,
    EntryOutcome.REPLAYED,
)


def accepted(answer: EntryResult, drive: str = "start") -> EntryResult:
    """Return an answer that names a run of this request, or raise what the label means."""
    if answer.outcome in ACCEPTED:
        return answer
    raise refused(answer, answer.outcome, drive)


def refused(answer: EntryResult, outcome: EntryOutcome, drive: str = "start") -> EntryRefused:
    """Return the error that a refusal is."""
    field = str((answer.detail or {}).get("field", "")) or None
    match outcome:
        case EntryOutcome.INVALID_REQUEST:
            return EntryRefused("validation_error", "Invalid request", field=field)
        case EntryOutcome.SESSION_NOT_FOUND:
            return session_not_found()
        case EntryOutcome.REQUEST_KEY_CONFLICT:
            return RequestKeyConflict(answer.run_id)
        case EntryOutcome.REQUEST_ALREADY_COMPLETED:
            return RequestAlreadyCompleted(answer.run_id)
        case EntryOutcome.ALREADY_RUNNING | EntryOutcome.INTERRUPTING:
            return EntryRefused("state_already_running", "A run of this session executes")
        case EntryOutcome.AGENT_TYPE_MISMATCH:
            return agent_type_mismatch()
        case EntryOutcome.IDENTITY_MISMATCH:
            return identity_mismatch(field)
        case EntryOutcome.NOT_RESUMABLE:
            return not_resumable(answer.detail or {}, drive)
        case EntryOutcome.REJECTED:
            return RunStartRejected(answer.cause or "")
        case (
            EntryOutcome.STARTED
            | EntryOutcome.RESUMED
            | EntryOutcome.ATTACHED
            | EntryOutcome.REPLAYED
        ):
            raise AssertionError("an accepted entry is no refusal")
        case _:
            assert_never(outcome)


def session_made(answer: CreateSessionResult) -> CreateSessionResult:
    """Return an answer that names the session, or raise what the label means."""
    field = str((answer.detail or {}).get("field", "")) or None
    match answer.outcome:
        case CreateSessionOutcome.CREATED | CreateSessionOutcome.EXISTING:
            return answer
        case CreateSessionOutcome.INVALID_REQUEST:
            raise EntryRefused("validation_error", "Invalid request", field=field)
        case CreateSessionOutcome.SESSION_NOT_FOUND:
            raise session_not_found()
        case CreateSessionOutcome.AGENT_TYPE_MISMATCH:
            raise agent_type_mismatch()
        case CreateSessionOutcome.IDENTITY_MISMATCH:
            raise identity_mismatch(field)
        case _:
            assert_never(answer.outcome)


def session_not_found() -> EntryRefused:
    """There is no such session, or it is another user's: the two look alike."""
    return EntryRefused("state_session_not_found", "There is no such session")


def agent_type_mismatch() -> EntryRefused:
    """The session was made for another agent type, and the persisted one decides."""
    return EntryRefused("state_agent_type_mismatch", "The session has another agent type")


def identity_mismatch(field: str | None) -> EntryRefused:
    """Identity is fixed when a session is created."""
    return EntryRefused(
        "validation_error", f"The session was created with another {field}", field=field
    )


def not_resumable(detail: Mapping[str, Any], drive: str) -> EntryRefused:
    """Where the session stands, this drive is not for it.

    What is awaited is named first: a client is shown no more than the first 256 characters.
    """
    awaited = [str(each) for each in detail.get("awaitingToolCallIds") or ()]
    status = str(detail.get("sessionStatus"))
    if drive == "retry":
        message = f"retry is only for failed sessions, and this one is {status}"
    elif awaited:
        message = f"{', '.join(awaited)}: the session waits for what these tool calls answer"
    else:
        message = f"A session that is {status} is not resumed from here"
    return EntryRefused(
        "state_not_resumable",
        message,
        retryable=bool(detail.get("retryable", False)),
        detail={"sessionStatus": status, "awaitingToolCallIds": awaited},
    )
