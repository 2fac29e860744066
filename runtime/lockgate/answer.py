"""From what the gate answered to a result or a typed error. One line per label; no other place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from lockgate.call_outcomes import (
    PlanSubmitResult,
    RequestStopOutcome,
    RequestStopResult,
    SubmitOutcome,
    SubmitResult,
)
from lockgate.codes import SubmitCause
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


SUBMITTED = (SubmitOutcome.ACCEPTED, SubmitOutcome.ALREADY_COMPLETED)


def submit_refused(answer: PlanSubmitResult | SubmitResult) -> EntryRefused:
    """Return the error that a submit's refusal is; nothing was written by it."""
    match answer.outcome:
        case SubmitOutcome.INVALID_REQUEST:
            field = str((answer.detail or {}).get("field", "")) or None
            return EntryRefused("invalid_payload", "Not an answer to a tool call", field=field)
        case SubmitOutcome.UNKNOWN_TOOL_CALL:
            return EntryRefused("unknown_tool_call", "There is no such tool call")
        case SubmitOutcome.NOT_PENDING_YET:
            return EntryRefused(
                "state_not_resumable",
                "The tool call does not wait for an answer yet",
                retryable=True,
                cause=SubmitCause.NOT_PENDING_YET,
            )
        case SubmitOutcome.RUN_ENDED:
            return EntryRefused(
                "state_not_resumable",
                "The run of the tool call is over",
                cause=SubmitCause.RUN_ENDED,
                run_id=answer.call_run_id,
            )
        case SubmitOutcome.KIND_MISMATCH:
            return EntryRefused("validation_error", "The tool call takes another kind of answer")
        case SubmitOutcome.ACCEPTED | SubmitOutcome.ALREADY_COMPLETED:
            raise AssertionError("a stored answer is no refusal")
        case _:
            assert_never(answer.outcome)


def stop_heard(answer: RequestStopResult, kind: str) -> bool:
    """Say whether a stop stands on the run; raise what it means where none could.

    A paused session takes no interrupt, and of an abort it writes nothing: nothing runs there.
    """
    match answer.outcome:
        case RequestStopOutcome.STOPPING:
            return True
        case RequestStopOutcome.NOT_RUNNING:
            return False
        case RequestStopOutcome.PAUSED:
            if kind == "interrupt":
                raise EntryRefused("validation_error", "The session is paused: nothing runs in it")
            return False
        case RequestStopOutcome.SESSION_NOT_FOUND:
            raise session_not_found()
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
