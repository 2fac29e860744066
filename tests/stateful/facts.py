"""What is so, in plain Python: sessions, runs, workers and the time, and who executes what.

It knows no lock and no table. Times are seconds since the model's birth; a session's name is its
tenant and its id. What may be done stands in the files beside this one, by who does it.
"""

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

Name = tuple[str, str]
State = dict[str, int]

LEASE_S = 5.0
DISPATCH_LIMIT_S = 30.0
FIRST_RUN_LIMIT_S = 300.0
SUSPENDED = ("suspended_client_tool", "suspended_awaiting_children", "suspended_step_partial")
LIVE = ("running", *SUSPENDED)
CLOSED = ("SUCCESS", "ERROR", "CANCELLED")


class Message(NamedTuple):
    """One message of a history. calls  how many of its parts are calls"""

    turn: int
    role: str
    parts: int
    calls: int = 0


class Checkpoint(NamedTuple):
    """A place to go back to. keeps  the messages that stood; state  the session's, then"""

    turn: int
    step: int
    checkpoint_id: str
    keeps: int
    state: State


@dataclass(eq=False)
class Call:
    """One call. call_id  that of a call which others answer; run  the one whose step it is in"""

    run: "Run" = field(repr=False)
    kind: str = "server"
    call_id: str = ""
    retention_ms: int | None = None
    status: str = "pending"
    has_response: bool = False
    approved: bool | None = None
    has_begun: bool = False
    consumed_at: float = 0.0

    @property
    def is_asked(self) -> bool:
        """Say whether a client, or somebody who may approve, has still to answer it."""
        is_open = self.status == "pending" and self.approved is None
        return is_open and self.kind in ("client", "approval")

    def answer(self) -> None:
        self.status, self.has_response = "answered", True


@dataclass
class Child:
    """What a parent has on record of a child. name  a companion's"""

    call_id: str
    name: str | None
    status: str = "running"
    has_ended: bool = False


@dataclass(eq=False)
class Run:
    """One run. request  what its key stands for; start  all of it, where a caller chose the id"""

    run_id: UUID
    turn: int
    drive: str
    key: str | None
    request: object
    start: object
    start_sequence: int
    dispatch_at: float
    status: str = "running"
    attempt: int = 1
    owner: str | None = None
    claimed_at: float | None = None
    workflow: str = "ENQUEUED"
    dispatched: tuple[str, float] | None = None
    stop: str | None = None
    steps: int = 0
    calls: list[Call] = field(default_factory=list)
    spent: int = 0  # Of its budget, since the last committed step.
    deaths: int = 0  # Of its workers, since then.
    has_taken_over: bool = False  # The step of the run before, as its own first one.
    is_told_to_wait: bool = False  # A store client suspended it, whatever it waits for.
    output: str | None = None

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    def awaits_any(self) -> bool:
        return any(call.status == "pending" for call in self.calls)

    def end(self, status: str, output: str | None = None) -> None:
        self.status, self.owner, self.output = status, None, output
        self.attempt += 1
        self.spent = self.deaths = 0


@dataclass
class Delivery:
    """A settlement's way to one consumer."""

    settled_at: float
    claimed_until: float | None = None
    tries: int = 0
    is_marked: bool = False


@dataclass(eq=False)
class Session:
    """One session: who it belongs to, its runs in order, its history and its stream."""

    agent: str
    user: str | None
    tags: tuple[str, ...]
    parent: str | None
    state: State
    created_at: float
    first_run_due: bool = True
    end_due: bool = False
    status: str = "active"
    runs: list[Run] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    terminal: tuple[UUID, str] | None = None
    output: str | None = None
    stream: str | None = None
    head: int = 0
    committed: int = 0
    settled: dict[tuple[UUID, str], float] = field(default_factory=dict)
    deliveries: dict[tuple[UUID, str, str], Delivery] = field(default_factory=dict)
    name: Name = ("", "")
    root: str | None = None
    children: dict[str, Child] = field(default_factory=dict)
    asked: dict[str, Call] = field(default_factory=dict)  # All that others answer, over or not.

    @property
    def current(self) -> Run | None:
        return self.runs[-1] if self.runs else None

    def landed(self, run: Run) -> str | None:
        """Return the status that the run's terminal commit recorded, if it landed."""
        return self.terminal[1] if self.terminal and self.terminal[0] == run.run_id else None

    def has_child(self, call: Call) -> bool:
        return any(child.call_id == call.call_id for child in self.children.values())

    def is_complete(self) -> bool:
        """Say whether a suspended run waits for nothing any more, and nobody goes on with it."""
        run = self.current
        if run is None or run.status not in SUSPENDED[:2] or self.landed(run):
            return False
        return bool(run.calls) and not run.awaits_any()

    def count_told(self, calls: "list[Call]") -> int:
        """Count the chunks that tell of the answers which no drive has given."""
        told = [call for call in calls if call.kind != "server" and call.has_response]
        return len(told) + sum(map(self.has_child, told))

    def pair(self, run: Run, now: float) -> None:
        """Give every open call of a run its result, in one message."""
        if run.calls:
            self.messages.append(Message(run.turn, "tool", len(run.calls)))
        for call in run.calls:
            call.status = "consumed" if call.has_response else "abandoned"
            call.consumed_at = now
        run.calls = []

    def close_stream(self, status: str) -> None:
        """End, fail or pause the stream, as a run of this status does."""
        self.head += 1 if status in ("failed", "interrupted") else 0
        self.committed = self.head
        self.stream = stream_end(status)


def stream_end(status: str) -> str | None:
    """Return how the stream of a run of this status stands; none while it runs."""
    if status == "running":
        return None
    if status in LIVE:
        return "paused"
    return "failed" if status == "failed" else "ended"


@dataclass
class Facts:
    """All sessions, all workers, all consumers, and the time."""

    now: float = 0.0
    beats: dict[str, float] = field(default_factory=dict)
    regular_since: dict[str, float] = field(default_factory=dict)
    draining: set[str] = field(default_factory=set)
    sessions: dict[Name, Session] = field(default_factory=dict)
    consumers: list[str] = field(default_factory=list)
    moved: set[Name] = field(default_factory=set)  # Sessions that something else has changed.
    unnamed: list[Session] = field(default_factory=list)  # Whose current run has no id yet.

    def beat(self, worker: str, drains: bool) -> None:
        if worker not in self.beats or self.beats[worker] + LEASE_S < self.now:
            self.regular_since[worker] = self.now
        self.beats[worker] = self.now
        self.draining = self.draining - {worker} | ({worker} if drains else set())

    def alive(self, worker: str | None) -> bool:
        return worker in self.beats and self.beats[worker] + LEASE_S > self.now

    def served(self) -> bool:
        return any(self.alive(worker) for worker in self.beats if worker not in self.draining)

    def executes(self, session: Session) -> bool:
        run = session.current
        if run is None or run.status != "running" or session.landed(run):
            return False
        if run.owner is not None:
            return self.alive(run.owner)
        return self.served() or run.dispatch_at + DISPATCH_LIMIT_S > self.now

    def finding(self, run: Run) -> str | None:
        """Return why nothing executes a running run, if nothing does."""
        if run.workflow in CLOSED:
            return "closed_owner"
        if run.owner is not None and run.claimed_at is not None:
            is_dead = not self.alive(run.owner) and run.claimed_at + LEASE_S < self.now
            return "owner_dead" if is_dead else None
        if run.dispatched is not None:
            worker, at = run.dispatched
            leases = 3 if self.alive(worker) else 1
            return "never_claimed" if at + leases * LEASE_S < self.now else None
        if not self.served():
            return "unserved"
        is_over = run.workflow == "DELAYED" and run.dispatch_at <= self.now
        return "wait_over" if is_over else None

    def found(self) -> dict[Name, str]:
        """Return what a sweep finds: by session, the finding of its run or of its lack of one."""
        found = {}
        for name, session in self.sessions.items():
            run = session.current
            if run is not None and run.status == "running":
                finding = self.finding(run)
                waits = run.owner is None and run.dispatch_at >= self.now
                early = run.dispatch_at + DISPATCH_LIMIT_S >= self.now
                if finding and not waits and not (finding == "unserved" and early):
                    found[name] = finding
            if session.first_run_due and session.created_at + FIRST_RUN_LIMIT_S < self.now:
                found[name] = "first_run_overdue"
            if session.end_due:
                found[name] = "end_due"
            if session.is_complete():
                found[name] = "batch_complete"
        return found

    def judges(self, worker: str) -> bool:
        """Say whether a worker has been there for long enough to judge others."""
        return self.alive(worker) and self.regular_since[worker] + LEASE_S < self.now

    def run_named(self, run_id: UUID | None) -> tuple[Name, Run] | None:
        for name, session in self.sessions.items():
            for run in session.runs:
                if run.run_id == run_id:
                    return name, run
        return None

    def settle(self, session: Session, run: Run, status: str) -> None:
        """Record that a run reached a status at which nothing executes, once for each consumer."""
        session.settled.setdefault((run.run_id, status), self.now)
        for consumer in self.consumers:
            session.deliveries.setdefault((run.run_id, status, consumer), Delivery(self.now))
