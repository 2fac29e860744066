"""What becomes of a run that waits for others, and of a stop, in plain Python."""

from typing import NamedTuple
from uuid import UUID

from tests.stateful.drives import Drives, stopped_as
from tests.stateful.entries import Identity, is_anothers
from tests.stateful.facts import Call, Child, Name, Run, Session


class Answer(NamedTuple):
    """What somebody submits. kind  result, error or approval; approved  with its own id, if any"""

    kind: str
    approved: bool | None = None
    is_anothers_id: bool = False
    flaw: bool = False

    def fits(self, call: Call) -> bool:
        if call.kind == "client":
            return self.kind != "approval"
        return self.kind == "error" or (self.kind == "approval" and not self.is_anothers_id)


class Waits(Drives):
    """Suspensions, answers, children and stops."""

    def suspend(
        self, session: Session, run: Run, attempt: int, step: int, state: dict[str, int] | None
    ) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if run.stop is not None:
            self.close(session, run, stopped_as(run))
            return "ended"
        if step != run.steps + 1 or not self.waits_for_others(session, run):
            return "LG002"
        session.state = session.state if state is None else state
        self.pause(session, run)
        return "suspended" if self.go_on(session) is None else "continued"

    def begin_call(self, run: Run, attempt: int, ordinal: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        call = run.calls[ordinal - 1] if ordinal <= len(run.calls) else None
        if call is None or call.status != "pending" or call.has_begun:
            return "repeated"
        call.has_begun = True
        return "saved"

    def find_call(self, name: Name, call_id: str, acting: str | None) -> Call | None:
        """Find a call by its session, or by the root of that; no two sessions share an id here."""
        for (tenant_id, session_id), session in self.sessions.items():
            if tenant_id != name[0] or name[1] not in (session_id, session.root):
                continue
            call = session.asked.get(call_id)
            if call is not None and call.kind != "subagent":
                owners = (session, self.sessions.get(name))
                mine = not any(is_anothers(Identity(acting), owner) for owner in owners)
                return call if mine else None
        return None

    def submit(
        self, name: Name, call_id: str, answer: Answer, acting: str | None
    ) -> tuple[str, Call | None]:
        """Say what an answer comes to, and which call it means; nothing is so yet."""
        if answer.flaw:
            return "invalid_request", None
        call = self.find_call(name, call_id, acting)
        if call is None:
            session = self.own(name, acting)
            run = session.current if session else None
            is_running = run is not None and run.status == "running"
            return "not_pending_yet" if is_running else "unknown_tool_call", None
        session = self.session_with(call.run)
        if self.is_forgotten(session, call):
            return "unknown_tool_call", call
        if call.status in ("answered", "consumed") or call.approved is not None:
            return "already_completed", call
        if call.status == "abandoned" or session.landed(call.run):
            return "run_ended", call
        if call.run.status == "running":
            return "not_pending_yet", call
        return "accepted" if answer.fits(call) else "kind_mismatch", call

    def is_forgotten(self, session: Session, call: Call) -> bool:
        if call.status != "consumed" or call.retention_ms is None:
            return False
        following = session.runs[call.run.turn : call.run.turn + 1]
        is_fresh = any(
            run.drive in ("continue", "resume") and run.steps == 0 and run.is_live
            for run in following
        )
        return (self.now - call.consumed_at) * 1000 >= call.retention_ms and not is_fresh

    def session_with(self, run: Run) -> Session:
        return next(session for session in self.sessions.values() if run in session.runs)

    def take(self, call: Call, answer: Answer) -> Run | None:
        """Make an accepted answer so, and return the run that goes on, if one does."""
        call.status, call.approved = "answered", answer.approved
        call.has_response = not answer.approved
        return self.go_on(self.session_with(call.run))

    def continue_session(self, name: Name, acting: str | None) -> str:
        """Go on with a batch that is complete: only other hands leave one so."""
        session = self.own(name, acting)
        if session is None:
            return "session_not_found"
        if not session.is_complete():
            return "stale"
        self.go_on(session)
        self.moved.add(name)
        return "continued"

    def find_child(
        self, session: Session, run: Run, attempt: int, call: Call, name: str | None
    ) -> str:
        """Say what a start of a child comes to; nothing is so yet."""
        if not self.holds(run, attempt):
            return "fenced"
        if session.has_child(call):
            return "repeated"
        if any(name is not None and child.name == name for child in session.children.values()):
            return "name_taken"
        return "started" if call.run is run and call.status == "pending" else "LG002"

    def bear(
        self, parent: Session, call: Call, name: str | None, child_id: str, run_id: UUID
    ) -> None:
        """Make a child so, under the ids that it got."""
        parent.children[child_id] = Child(call.call_id, name)
        parent.head += 1
        parent.committed = parent.head
        child = Session(
            agent=parent.agent,
            user=parent.user,
            tags=parent.tags,
            parent=parent.name[1],
            state={},
            created_at=self.now,
            name=(parent.name[0], child_id),
            root=parent.root or parent.name[1],
        )
        self.sessions[child.name] = child
        self.moved.add(child.name)
        run = Run(run_id, 1, "start", None, None, None, 0, self.now)
        self.begin(child, run, "superseded", None, 1)

    def stop(
        self, name: Name, kind: str, run_id: UUID | None, with_suspended: bool, acting: str | None
    ) -> tuple[str, Run | None]:
        session = self.own(name, acting)
        if session is None:
            return "session_not_found", None
        run = session.current
        if run_id is not None:
            run = next((run for run in session.runs if run.run_id == run_id), None)
        if run is None or not run.is_live or session.landed(run):
            return "not_running", run
        if run.status != "running" and not with_suspended:
            return "paused", run
        if run.stop is None or kind == "abort":
            run.stop = kind
        return "stopping", run
