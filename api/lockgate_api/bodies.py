"""What a success says: from a rule's answer to a JSON body, pure.

Source: reference/http.md 1.2
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from lockgate import RunHandle
from lockgate.client_answers import Submitted
from lockgate.errors import scrub_detail
from lockgate.handle import Stop
from lockgate.messages import read_history, ui_messages
from lockgate.outcomes import (
    CreateSessionOutcome,
    CreateSessionResult,
    SnapshotResult,
    StatusResult,
)

# How a client's view names where a session stands: as its stream.
VIEW_STATUS: Mapping[str, str] = MappingProxyType(
    {
        "active": "active",
        "paused": "paused",
        "completed": "ended",
        "interrupted": "ended",
        "failed": "failed",
    }
)


def entry_body(handle: RunHandle, done: str) -> dict[str, Any]:
    """Say which run an entry has started or resumed (`done`), or found under its key."""
    return {
        "sessionId": handle.session_id,
        "streamId": handle.session_id,
        "runId": str(handle.run_id),
        "status": "attached" if handle.attached else done,
        "startSequence": handle.start_sequence,
    }


def session_body(answer: CreateSessionResult, agent_type: str) -> dict[str, Any]:
    """Say which session was made, or was there already."""
    return {
        "sessionId": answer.session_id,
        "agentType": agent_type,
        "status": answer.session_status,
        "created": answer.outcome is CreateSessionOutcome.CREATED,
    }


def submit_body(submitted: Submitted) -> dict[str, Any]:
    """Say whether an answer was stored, and which run goes on; or what stands already."""
    said = {"status": submitted.status, "toolCallId": submitted.tool_call_id}
    if submitted.status == "accepted":
        return {**said, "runId": None if submitted.run_id is None else str(submitted.run_id)}
    return {**said, **_given(approved=submitted.approved)}


def stop_body(stop: Stop) -> dict[str, Any]:
    """Say what a stop has done, and of which run."""
    return {
        "sessionId": stop.session_id,
        "status": stop.status,
        **_given(
            runId=None if stop.run_id is None else str(stop.run_id), runStatus=stop.run_status
        ),
    }


def status_body(answer: StatusResult) -> dict[str, Any]:
    """Say where a session stands."""
    return {
        "sessionId": answer.session_id,
        "agentType": answer.agent_type,
        "status": answer.session_status,
        "streamId": answer.session_id,
        "streamStatus": answer.stream_status,
        "runId": None if answer.run_id is None else str(answer.run_id),
        "runStatus": answer.run_status,
        "turn": answer.turn,
        "isExecuting": answer.is_executing,
        "startSequence": answer.start_sequence,
        **_given(output=answer.output),
        **_failure("error", "errorDetail", answer.error_detail),
        "awaitingToolCallIds": (
            [] if answer.run_status == "running" else answer.awaiting_tool_call_ids
        ),
        "updatedAt": _timestamp(answer.updated_at),
    }


def snapshot_body(answer: SnapshotResult) -> dict[str, Any]:
    """Show a session's committed history, and the cursor from which the stream goes on."""
    final = answer.final or {}
    return {
        "sessionId": answer.session_id,
        "agentType": answer.agent_type,
        "status": VIEW_STATUS[answer.session_status],
        "sessionStatus": answer.session_status,
        "messages": ui_messages(read_history(answer.messages, answer.message_count), answer.calls),
        "state": answer.state,
        "streamId": answer.session_id,
        "streamStatus": answer.stream_status,
        "streamSequence": answer.stream_sequence or 0,
        "epoch": answer.epoch,
        "timestamp": _timestamp(answer.read_at),
        "run": _run(answer),
        "pending": [_pending(call, answer) for call in answer.calls if _awaits(call, answer)],
        **_failure("error", "errorDetail", answer.error_detail),
        **_failure("streamError", "streamErrorDetail", final.get("errorDetail")),
    }


def _run(answer: SnapshotResult) -> dict[str, Any] | None:
    if answer.run_id is None:
        return None
    return {
        "runId": str(answer.run_id),
        "turn": answer.turn,
        "status": answer.run_status,
        "startSequence": answer.start_sequence,
        **_given(
            endSequence=answer.end_sequence,
            requestKey=answer.request_key,
            requestDigest=answer.request_digest,
        ),
    }


def _awaits(call: Mapping[str, Any], answer: SnapshotResult) -> bool:
    """Say whether a call takes an answer now: announced by its run's suspension, and undecided."""
    return (
        call["kind"] in ("client", "approval")
        and call["status"] == "pending"
        and call.get("approved") is None
        and answer.run_status != "running"
    )


def _pending(call: Mapping[str, Any], answer: SnapshotResult) -> dict[str, Any]:
    return {
        "toolCallId": call["toolCallId"],
        "toolName": call["toolName"],
        "kind": call["kind"],
        "input": call["input"],
        **_given(approvalId=call.get("approvalId")),
        "runId": str(answer.run_id),
        "status": call["status"],
    }


def _failure(text: str, detail: str, given: Any) -> dict[str, Any]:
    """Show a stored failure. Scrubbed once more: any client of the database may have stored it."""
    if not isinstance(given, Mapping):
        return {}
    safe = scrub_detail(given)
    return {text: safe["message"], detail: safe}


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
