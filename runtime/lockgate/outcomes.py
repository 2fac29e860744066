"""What the rules answer: the mirror of SQL's outcome enums and result rows.

SQL is the source. Labels stand in order of precedence, fields in order of the row; a contract test
compares both with the catalogue. Nothing here decides anything. What only a worker is answered
stands in `worker_outcomes.py`.
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
    NOT_RESUMABLE = "not_resumable"
    REJECTED = "rejected"
    INTERRUPTING = "interrupting"
    STARTED = "started"
    RESUMED = "resumed"


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


class CommitTerminalOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    SESSION_NOT_FOUND = "session_not_found"
    FENCED = "fenced"
    REFUSED = "refused"
    UNCHANGED = "unchanged"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class CommitTerminalResult:
    outcome: CommitTerminalOutcome
    session_status: str | None


class UpdateRunStatusOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    SUPERSEDED = "superseded"
    UNCHANGED = "unchanged"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class UpdateRunStatusResult:
    outcome: UpdateRunStatusOutcome
    run_status: str | None


class CloseStreamOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    FENCED = "fenced"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class CloseStreamResult:
    outcome: CloseStreamOutcome
    stream_status: str | None
    head_sequence: int | None


class ListOutcome(StrEnum):
    INVALID_REQUEST = "invalid_request"
    SESSION_NOT_FOUND = "session_not_found"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class ListResult:
    outcome: ListOutcome
    items: list[dict[str, JsonValue]]
    total: int
    has_more: bool
    detail: dict[str, JsonValue] | None


class DeleteSessionOutcome(StrEnum):
    AGAIN = "again"
    NOT_FOUND = "not_found"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class DeleteSessionResult:
    outcome: DeleteSessionOutcome
    deleted_sessions: int


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


@dataclass(frozen=True, slots=True)
class CheckInstallationResult:
    package_version: str
    drive_version: str
    rules_digest: str
    dbos_schema: str
    broken: list[str]
