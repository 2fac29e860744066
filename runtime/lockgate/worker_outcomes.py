"""What the rules answer a worker, and who watches workers: outcomes.py goes on, as it does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lockgate.strict_json import JsonValue


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
    deaths: int
    is_recovery: bool


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


class SuspendRunOutcome(StrEnum):
    FENCED = "fenced"
    ENDED = "ended"
    CONTINUED = "continued"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class SuspendRunResult:
    outcome: SuspendRunOutcome
    run_status: str | None
    run_id: UUID | None


class StartChildOutcome(StrEnum):
    FENCED = "fenced"
    REPEATED = "repeated"
    NAME_TAKEN = "name_taken"
    STARTED = "started"


@dataclass(frozen=True, slots=True)
class StartChildResult:
    outcome: StartChildOutcome
    child_session_id: str | None
    child_run_id: UUID | None
    status: str | None
    head_sequence: int | None
    stop_kind: str | None


class AwaitChildOutcome(StrEnum):
    FENCED = "fenced"
    CHILD_NOT_FOUND = "child_not_found"
    REPEATED = "repeated"
    ENDED = "ended"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class AwaitChildResult:
    outcome: AwaitChildOutcome
    child_session_id: str | None
    status: str | None
    head_sequence: int | None
    stop_kind: str | None


class FinishRunOutcome(StrEnum):
    FENCED = "fenced"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class FinishRunResult:
    outcome: FinishRunOutcome
    run_status: str | None


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
    attempt: int | None
    drive_id: UUID | None


@dataclass(frozen=True, slots=True)
class StandingStop:
    run_id: UUID
    stop_kind: str


class RequeueRunOutcome(StrEnum):
    STALE = "stale"
    ENDED = "ended"
    SUSPENDED = "suspended"
    RELEASED = "released"
    EXHAUSTED = "exhausted"
    REQUEUED = "requeued"


@dataclass(frozen=True, slots=True)
class RequeueRunResult:
    outcome: RequeueRunOutcome
    run_status: str | None
    attempt: int | None
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class StrandedRun:
    tenant_id: str
    session_id: str
    run_id: UUID
    finding: str
    since: datetime
    owner_id: str | None
    attempt: int
    lost_attempts: int
    last_failure_code: str | None
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecoveryMetricsResult:
    workers_alive: int
    workers_draining: int
    takeovers: int
    recoveries: int
    exhausted: int
    fenced_writes: int
    heartbeat_age_ms: int | None
    sweep_age_ms: int | None
    stranded_runs: int
    running_runs: int
    undelivered_settlements: int


class ContinueSessionOutcome(StrEnum):
    SESSION_NOT_FOUND = "session_not_found"
    STALE = "stale"
    CONTINUED = "continued"


@dataclass(frozen=True, slots=True)
class ContinueSessionResult:
    outcome: ContinueSessionOutcome
    run_id: UUID | None


class CompleteEndOutcome(StrEnum):
    SESSION_NOT_FOUND = "session_not_found"
    STALE = "stale"
    ENDED = "ended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class CompleteEndResult:
    outcome: CompleteEndOutcome
    run_id: UUID | None
    run_status: str | None


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
