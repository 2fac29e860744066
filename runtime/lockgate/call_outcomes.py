"""What the rules answer about calls, children and stops: outcomes.py goes on, same contract."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lockgate.strict_json import JsonValue


class SubmitOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    UNKNOWN_TOOL_CALL = "unknown_tool_call"
    NOT_PENDING_YET = "not_pending_yet"
    ALREADY_COMPLETED = "already_completed"
    RUN_ENDED = "run_ended"
    KIND_MISMATCH = "kind_mismatch"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class SubmitResult:
    outcome: SubmitOutcome
    session_id: str
    tool_call_id: str | None
    tool_name: str | None
    call_run_id: UUID | None
    run_id: UUID | None
    start_sequence: int | None
    approved: bool | None
    detail: dict[str, JsonValue] | None


@dataclass(frozen=True, slots=True)
class PlanSubmitResult:
    outcome: SubmitOutcome
    session_id: str
    tool_call_id: str | None
    tool_name: str | None
    input: JsonValue
    agent_type: str | None
    approved: bool | None
    call_run_id: UUID | None
    detail: dict[str, JsonValue] | None


class RequestStopOutcome(StrEnum):
    SESSION_NOT_FOUND = "session_not_found"
    PAUSED = "paused"
    NOT_RUNNING = "not_running"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class RequestStopResult:
    outcome: RequestStopOutcome
    run_id: UUID | None
    run_status: str | None


class RecordChildRunningOutcome(StrEnum):
    FENCED = "fenced"
    CHILD_NOT_FOUND = "child_not_found"
    UNCHANGED = "unchanged"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class RecordChildRunningResult:
    outcome: RecordChildRunningOutcome
    status: str | None


class EndRemoteChildOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    FENCED = "fenced"
    CHILD_NOT_FOUND = "child_not_found"
    UNCHANGED = "unchanged"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class EndRemoteChildResult:
    outcome: EndRemoteChildOutcome
    status: str | None
    run_id: UUID | None


@dataclass(frozen=True, slots=True)
class AncestorItem:
    session_id: str
    agent_type: str


@dataclass(frozen=True, slots=True)
class ChildItem:
    child_session_id: str
    agent_type: str
    name: str | None
    mode: str
    location: str
    status: str
    output: JsonValue
    error_detail: dict[str, JsonValue] | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class UsageRollupResult:
    rollup: dict[str, JsonValue] | None
    identity: dict[str, JsonValue] | None


class RecordUsageEntriesOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    SESSION_NOT_FOUND = "session_not_found"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class RecordUsageEntriesResult:
    outcome: RecordUsageEntriesOutcome
    recorded: int | None
    detail: dict[str, JsonValue] | None
