"""What becomes of the writes of a store client that drives runs itself, in plain Python."""

from dataclasses import dataclass
from uuid import UUID

from tests.stateful.entries import Decision, Expect, Identity, broken, is_anothers
from tests.stateful.facts import LIVE, Name, Run, Session, stream_end
from tests.stateful.lone_sessions import LoneSessions

ENDS = ("completed", "failed", "interrupted")
STATUSES = (*LIVE, *ENDS, "superseded")


@dataclass(frozen=True)
class RunStart:
    """A planned run start. finish  the current run, and the end that its terminal commit wrote"""

    name: Name
    run_id: UUID
    drive: str
    status: str
    expect: Expect
    says: tuple[str, ...] = ()
    keeps: int | None = None
    patch: tuple[tuple[str, int], ...] = ()
    key: str | None = None
    request: object = None
    finish: tuple[UUID, str] | None = None
    displaces: str | None = None
    acting: str | None = None
    flaw: str | None = None

    @property
    def start(self) -> object:
        written = (self.says, self.keeps, self.patch, self.key, self.request)
        return "store client", self.run_id, self.drive, self.status, written


class StoreClient(LoneSessions):
    """The parts of a run's life, each written by itself."""

    def own(self, name: Name, acting: str | None) -> Session | None:
        session = self.sessions.get(name)
        return None if is_anothers(Identity(acting), session) else session

    def decide_start(self, start: RunStart) -> Decision:
        if start.flaw is not None:
            return Decision("invalid_request")
        session = self.own(start.name, start.acting)
        if session is None:
            return Decision("session_not_found")
        repeated = self.repeated(start.name, start.run_id, start.start)
        if repeated is not None:
            return repeated
        for run in session.runs:
            if start.key is not None and run.key == start.key:
                return Decision("rejected", run, "request_key_taken")
        cause = self.refusal(start, session)
        if cause is not None:
            return Decision("rejected", session.current, cause)
        if start.keeps is not None and start.keeps > len(session.messages):
            return Decision("invalid_request")
        return Decision("started")

    def refusal(self, start: RunStart, session: Session) -> str | None:
        cause = broken(start.expect, session)
        run = session.current
        if cause in ("current_run_changed", "current_run_status_changed"):
            return cause
        if start.finish is not None:
            landed = session.landed(run) if run is not None and run.is_live else None
            if run is None or landed is None or start.finish != (run.run_id, landed):
                return "finish_current_invalid"
            return cause
        is_owned = run is not None and run.status == "running" and self.alive(run.owner)
        if run is not None and is_owned and run.owner != start.displaces:
            return "current_run_owned"
        return cause

    def start_run(self, start: RunStart) -> None:
        """Make an accepted run start so."""
        session = self.sessions[start.name]
        ends = start.finish[1] if start.finish else "superseded"
        run = Run(
            run_id=start.run_id,
            turn=len(session.runs) + 1,
            drive=start.drive,
            key=start.key,
            request=start.request,
            start=start.start,
            start_sequence=session.head,
            dispatch_at=self.now,
        )
        self.begin(session, run, ends, start.keeps, len(start.says))
        session.status = start.status
        session.state = session.state | dict(start.patch)

    def end_session(
        self, name: Name, run_id: UUID, status: str, output: str | None, acting: str | None
    ) -> str:
        """The terminal commit: the session's part of an end."""
        if status not in ENDS:
            return "invalid_request"
        session = self.own(name, acting)
        if session is None:
            return "session_not_found"
        run = session.current
        if run is None or run.run_id != run_id:
            return "fenced"
        landed = session.landed(run)
        if landed is not None:
            return "unchanged" if landed == status else "refused"
        if not run.is_live and run.status != status:
            return "refused"
        run.attempt += 1
        session.status, session.terminal, session.output = status, (run_id, status), output
        session.end_due = True
        return "written"

    def move_run(self, name: Name, run_id: UUID, status: str, acting: str | None) -> str:
        """The run's part of an end, of a suspension or of a way back from one."""
        if status not in STATUSES:
            return "invalid_request"
        session = self.own(name, acting)
        run = next((run for run in session.runs if run.run_id == run_id), None) if session else None
        if session is None or run is None:
            return "not_found"
        if not run.is_live:
            return "unchanged" if run.status == status else "superseded"
        if session.landed(run) not in (None, status):
            return "superseded"
        session.end_due = status != "running"
        if status not in LIVE:
            session.pair(run, self.now)
            run.end(status, session.output)
        elif status == "running":
            run.status, session.stream = status, "active"
        else:
            run.status, run.owner, run.is_told_to_wait = status, None, True
            run.attempt += 1
        if status != "running":
            self.settle(session, run, status)
        if session.landed(run) is None and status != "superseded":
            follows = {"running": "active"} | {each: each for each in ENDS}
            session.status = follows.get(status, "paused")
        if status not in LIVE:
            self.tell_parent(session, status)
        return "written"

    def close_stream(self, name: Name, run_id: UUID, status: str, acting: str | None) -> str:
        """The stream's part of an end or of a suspension."""
        session = self.own(name, acting)
        run = session.current if session else None
        if session is None or run is None:
            return "not_found"
        if run.run_id != run_id:
            return "fenced"
        if session.stream == status:
            return "unchanged"
        if session.stream in ("ended", "failed") or stream_end(run.status) != status:
            return "refused"
        self.close_left_stream(session, run)
        return "closed"

    def close_left_stream(self, session: Session, run: Run) -> None:
        session.close_stream(run.status)
        session.end_due = False
        run.attempt += 1

    def complete_end(self, name: Name, acting: str | None) -> str:
        """Write what a store client has left of an end."""
        session = self.own(name, acting)
        if session is None:
            return "session_not_found"
        run = session.current
        landed = session.landed(run) if run else None
        if run is not None and landed is not None and run.is_live:
            self.close(session, run, landed, session.output)
            return "ended"
        session.end_due = False
        due = stream_end(run.status) if run else None
        if run is None or due is None or session.stream in (due, "ended", "failed"):
            return "stale"
        self.close_left_stream(session, run)
        return "closed"
