"""What the rules answer: the mirror of SQL's outcome enums and result rows.

SQL is the source. Labels stand in order of precedence, fields in order of the row; a contract test
compares both with the catalogue. Nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lockgate.strict_json import JsonValue


class EntryOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    SESSION_NOT_FOUND = "session_not_found"
    REPLAYED = "replayed"
    REQUEST_KEY_CONFLICT = "request_key_conflict"
    ATTACHED = "attached"
    REQUEST_ALREADY_COMPLETED = "request_already_completed"
    ALREADY_RUNNING = "already_running"
    AGENT_TYPE_MISMATCH = "agent_type_mismatch"
    IDENTITY_MISMATCH = "identity_mismatch"
    REJECTED = "rejected"
    INTERRUPTING = "interrupting"
    STARTED = "started"


@dataclass(frozen=True, slots=True)
class EntryResult:
    outcome: EntryOutcome
    session_id: str
    stream_id: str
    run_id: UUID | None
    run_status: str | None
    start_sequence: int | None
    cause: str | None
    detail: dict[str, JsonValue] | None


class CreateSessionOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    SESSION_NOT_FOUND = "session_not_found"
    AGENT_TYPE_MISMATCH = "agent_type_mismatch"
    IDENTITY_MISMATCH = "identity_mismatch"
    EXISTING = "existing"
    CREATED = "created"


@dataclass(frozen=True, slots=True)
class CreateSessionResult:
    outcome: CreateSessionOutcome
    session_id: str
    session_status: str | None
    detail: dict[str, JsonValue] | None


class FailSessionWithoutRunOutcome(StrEnum):
    SESSION_NOT_FOUND = "session_not_found"
    HAS_RUN = "has_run"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FailSessionWithoutRunResult:
    outcome: FailSessionWithoutRunOutcome


@dataclass(frozen=True, slots=True)
class StatusResult:
    session_id: str | None
    agent_type: str
    session_status: str
    stream_status: str | None
    run_id: UUID | None
    run_status: str | None
    turn: int | None
    is_executing: bool
    start_sequence: int | None
    output: JsonValue
    error_detail: dict[str, JsonValue] | None
    awaiting_tool_call_ids: list[str]
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    session_id: str | None
    agent_type: str
    session_status: str
    state: dict[str, JsonValue]
    error_detail: dict[str, JsonValue] | None
    message_count: int
    messages: list[dict[str, JsonValue]]
    calls: list[dict[str, JsonValue]]
    stream_status: str | None
    stream_sequence: int | None
    epoch: str | None
    final: dict[str, JsonValue] | None
    run_id: UUID | None
    run_status: str | None
    turn: int | None
    start_sequence: int | None
    end_sequence: int | None
    request_key: str | None
    request_digest: str | None
    read_at: datetime


@dataclass(frozen=True, slots=True)
class GetRunResult:
    run_id: UUID | None
    session_id: str
    turn: int
    drive: str
    status: str
    request_key: str | None
    request_digest: str | None
    attempt: int
    start_sequence: int
    end_sequence: int | None
    step_count: int
    output: JsonValue
    error_detail: dict[str, JsonValue] | None
    started_at: datetime
    completed_at: datetime | None


class ReadStreamOutcome(StrEnum):
    NO_STREAM = "no_stream"
    REWOUND = "rewound"
    TRUNCATED = "truncated"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class ReadStreamResult:
    outcome: ReadStreamOutcome
    stream_status: str | None
    run_id: UUID | None
    head_sequence: int | None
    floor_sequence: int | None
    epoch: str | None
    final: dict[str, JsonValue] | None
    first_sequence: int
    run_ids: list[UUID] | None
    chunks: list[str] | None


@dataclass(frozen=True, slots=True)
class MovedStream:
    tenant_id: str
    session_id: str
    head_sequence: int


class AppendChunksOutcome(StrEnum):
    TOO_LARGE = "too_large"
    FENCED = "fenced"
    REPEATED = "repeated"
    APPENDED = "appended"


@dataclass(frozen=True, slots=True)
class AppendChunksResult:
    outcome: AppendChunksOutcome
    head_sequence: int | None
    stop_kind: str | None


class ClaimRunOutcome(StrEnum):
    OVER = "over"
    CLAIMED = "claimed"


@dataclass(frozen=True, slots=True)
class ClaimRunResult:
    outcome: ClaimRunOutcome
    attempt: int
    turn: int
    drive: str
    agent_type: str
    user_id: str | None
    tags: list[str]
    metadata: dict[str, str]
    parent_session_id: str | None
    root_session_id: str | None
    state: dict[str, JsonValue]
    step_count: int
    message_count: int
    messages: list[dict[str, JsonValue]]
    calls: list[dict[str, JsonValue]]
    head_sequence: int
    stop_kind: str | None


class StepOutcome(StrEnum):
    FENCED = "fenced"
    REPEATED = "repeated"
    SAVED = "saved"


@dataclass(frozen=True, slots=True)
class StepResult:
    outcome: StepOutcome
    head_sequence: int
    stop_kind: str | None
    calls: list[dict[str, JsonValue]]


class FinishRunOutcome(StrEnum):
    FENCED = "fenced"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class FinishRunResult:
    outcome: FinishRunOutcome
    run_status: str | None


@dataclass(frozen=True, slots=True)
class CheckInstallationResult:
    package_version: str
    drive_version: str
    rules_digest: str
    dbos_schema: str
    broken: list[str]


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    heartbeat_at: datetime
    was_late: bool


@dataclass(frozen=True, slots=True)
class SweepFinding:
    finding: str
    tenant_id: str
    session_id: str
    run_id: UUID | None
    drive_id: UUID | None


@dataclass(frozen=True, slots=True)
class StandingStop:
    run_id: UUID
    stop_kind: str


class RequeueRunOutcome(StrEnum):
    STALE = "stale"
    ENDED = "ended"
    REQUEUED = "requeued"


@dataclass(frozen=True, slots=True)
class RequeueRunResult:
    outcome: RequeueRunOutcome
    run_status: str | None
    attempt: int | None
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class ClaimedSettlement:
    delivery_id: str
    tenant_id: str
    session_id: str
    run_id: UUID
    status: str
    agent_type: str
    drive: str
    output: JsonValue
    error_detail: dict[str, JsonValue] | None
    user_id: str | None
    tags: list[str]
    metadata: dict[str, str]
    tries: int
    settled_at: datetime


class MarkDeliveredOutcome(StrEnum):
    NOT_FOUND = "not_found"
    UNCHANGED = "unchanged"
    MARKED = "marked"


@dataclass(frozen=True, slots=True)
class MarkDeliveredResult:
    outcome: MarkDeliveredOutcome
