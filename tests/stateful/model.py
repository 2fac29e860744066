"""Lockgate's gate in plain Python: what a session's life should be, without a database.

Small on purpose: it knows no lock and no table, only who may do what next and what is then so.
Times are seconds since the model's birth.
"""

from dataclasses import dataclass, field

LEASE_S = 5.0
DISPATCH_LIMIT_S = 30.0
MAX_ATTEMPTS = 3
CLOSED = ("ERROR", "CANCELLED")


@dataclass
class Run:
    """One run, as far as anybody outside can tell."""

    turn: int
    say: str
    key: str | None
    dispatch_at: float
    status: str = "running"
    attempt: int = 1
    owner: str | None = None
    claimed_at: float = 0.0
    workflow: str = "ENQUEUED"
    stop: str | None = None
    steps: int = 0
    calls: list[str] = field(default_factory=list)  # Of the open step: pending or answered.
    spent: int = 0  # Of its budget, since the last committed step.


@dataclass
class Session:
    """One session: its runs in order, and how much it holds."""

    status: str = "active"
    runs: list[Run] = field(default_factory=list)
    messages: int = 0
    head: int = 0

    @property
    def current(self) -> Run | None:
        return self.runs[-1] if self.runs else None


@dataclass
class Model:
    """All sessions, all workers, and the time."""

    now: float = 0.0
    beats: dict[str, float] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    settled: set[tuple[str, int, str]] = field(default_factory=set)

    # What is so.

    def alive(self, worker: str | None) -> bool:
        return worker in self.beats and self.beats[worker] + LEASE_S > self.now

    def served(self) -> bool:
        return any(self.alive(worker) for worker in self.beats)

    def executes(self, run: Run | None) -> bool:
        if run is None or run.status != "running":
            return False
        if run.owner is not None:
            return self.alive(run.owner)
        return self.served() or run.dispatch_at + DISPATCH_LIMIT_S > self.now

    def stranded(self, run: Run) -> bool:
        if run.workflow in CLOSED:
            return True
        if run.owner is not None:
            return not self.alive(run.owner) and run.claimed_at + LEASE_S < self.now
        return not self.served()

    # What may be done. Each answers the outcome, and makes it so.

    def start(self, name: str, say: str, key: str | None, policy: str, plan: str | None) -> str:
        session = self.sessions.get(name, Session())
        current = session.current
        holder = next((run for run in session.runs if key is not None and run.key == key), None)
        if holder is not None:
            if holder.say != say:
                return "request_key_conflict"
            live = holder.status == "running" or holder is current
            return "attached" if live else "request_already_completed"
        busy = self.executes(current)
        if busy and (policy == "reject" or plan == "another run"):
            return "already_running"
        if plan is not None and plan != "fresh":
            return "rejected"
        if busy and current is not None:
            current.stop = current.stop or "interrupt"
            return "interrupting"
        self._accept(name, session, say, key)
        return "started"

    def _accept(self, name: str, session: Session, say: str, key: str | None) -> None:
        current = session.current
        if current is not None and current.status == "running":
            self._end(name, session, current, "superseded")
        self.sessions[name] = session
        session.runs.append(Run(len(session.runs) + 1, say, key, self.now))
        session.status = "active"
        session.messages += 1

    def _end(self, name: str, session: Session, run: Run, status: str) -> None:
        session.messages += 1 if run.calls else 0
        session.head += 1 if status in ("failed", "interrupted") else 0
        session.status = session.status if status == "superseded" else status
        run.status, run.owner, run.calls = status, None, []
        run.attempt += 1
        self.settled.add((name, run.turn, status))

    def create(self, name: str) -> str:
        if name in self.sessions:
            return "existing"
        self.sessions[name] = Session()
        return "created"

    def fail(self, name: str) -> str:
        session = self.sessions.get(name)
        if session is None:
            return "session_not_found"
        if session.runs:
            return "has_run"
        if session.status == "failed":
            return "unchanged"
        session.status = "failed"
        return "failed"

    def claim(self, session: Session, run: Run, worker: str) -> str:
        if run.status != "running" or run.owner is not None:
            return "over"
        run.owner, run.claimed_at = worker, self.now
        session.head += 1 if run.attempt > 1 else 0
        return "claimed"

    def holds(self, run: Run, attempt: int) -> bool:
        return run.status == "running" and run.attempt == attempt

    def append(self, session: Session, run: Run, attempt: int, count: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        session.head += count
        return "appended"

    def reply(self, session: Session, run: Run, attempt: int, calls: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if run.calls:
            return "repeated"
        session.messages += 1
        if calls:
            run.calls = ["pending"] * calls
            session.head += calls
        else:
            self._close_step(session, run)
        return "saved"

    def result(self, session: Session, run: Run, attempt: int, ordinal: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if ordinal > len(run.calls) or run.calls[ordinal - 1] != "pending":
            return "repeated"
        run.calls[ordinal - 1] = "answered"
        session.head += 1
        return "saved"

    def step(self, session: Session, run: Run, attempt: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if not run.calls:
            return "repeated"
        if "pending" in run.calls:
            return "LG002"
        session.messages += 1
        self._close_step(session, run)
        return "saved"

    def _close_step(self, session: Session, run: Run) -> None:
        run.calls, run.spent = [], 0
        run.steps += 1
        session.head += 1

    def finish(self, name: str, run: Run, attempt: int, status: str) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if status == "stopped" and run.stop is None:
            return "LG002"
        ended = "interrupted" if status == "stopped" else status
        self._end(name, self.sessions[name], run, ended)
        return "finished"

    def requeue(self, name: str, run: Run, finding: str, worker: str) -> str:
        holds = {"raised": True, "drained": run.owner == worker}.get(finding, self.stranded(run))
        if run.status != "running" or not holds:
            return "stale"
        counts = finding != "drained" and run.owner is not None
        if run.workflow == "CANCELLED":
            return self._ended(name, run, "failed")
        if run.stop is not None:
            return self._ended(name, run, "interrupted")
        run.spent += 1 if counts else 0
        if counts and run.spent >= MAX_ATTEMPTS:
            return self._ended(name, run, "failed")
        run.dispatch_at = self.now + (min(60, 2 ** (run.spent - 1)) if run.spent else 0)
        run.owner, run.workflow = None, "ENQUEUED"
        run.attempt += 1
        return "requeued"

    def _ended(self, name: str, run: Run, status: str) -> str:
        self._end(name, self.sessions[name], run, status)
        return "ended"
