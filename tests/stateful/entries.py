"""What becomes of an entry, and of a session without a run, in plain Python."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from tests.stateful.facts import LIVE, Name, Run, Session
from tests.stateful.runs import Runs

OPEN = ("never_run", "executing", "stranded", "awaiting_calls", "awaiting_children", "paused")
ENDED = ("interrupted", "superseded", "completed", "failed")
SUITS = {
    "start": {*OPEN, *ENDED},
    "resume": {"executing", "stranded", "paused", "interrupted", "superseded"},
    "retry": {"failed"},
}


class Expect(NamedTuple):
    """What a planner saw."""

    run_id: UUID | None
    run_status: str | None
    session_status: str | None


@dataclass(frozen=True)
class Identity:
    """Who calls, and whose session it is to be; none keeps what the session has."""

    acting: str | None = None
    user: str | None = None
    tags: tuple[str, ...] | None = None
    parent: str | None = None


@dataclass(frozen=True)
class Entry:
    """A request that wants a run, as its caller means it. flaw  what of its form is wrong"""

    verb: str
    name: Name
    agent: str
    says: tuple[str, ...] = ()
    patch: tuple[tuple[str, int], ...] = ()
    mode: str | None = None
    checkpoint: str | None = None
    key: str | None = None
    run_id: UUID | None = None
    policy: str = "reject"
    expect: Expect | None = None
    who: Identity = Identity()
    flaw: str | None = None

    @property
    def request(self) -> object:
        return self.verb, self.agent, self.says, self.patch, self.mode, self.checkpoint

    @property
    def start(self) -> object:
        return None if self.run_id is None else (self.run_id, self.key, self.request)


class Decision(NamedTuple):
    """An outcome, the run that it is about, and a rejection's cause."""

    outcome: str
    run: Run | None = None
    cause: str | None = None


def broken(expect: Expect | None, session: Session | None) -> str | None:
    """Return the cause of a rejection: the first thing seen that is no longer so."""
    if expect is None:
        return None
    run = session.current if session else None
    if expect.run_id != (run.run_id if run else None):
        return "current_run_changed"
    if expect.run_status != (run.status if run else None):
        return "current_run_status_changed"
    if expect.session_status != (session.status if session else None):
        return "session_status_changed"
    return None


def changed(who: Identity, session: Session) -> bool:
    """Say whether an identity is another one than the session was made with."""
    return (
        (who.user is not None and who.user != (session.user or ""))
        or (who.tags is not None and set(who.tags) != set(session.tags))
        or (who.parent is not None and who.parent != (session.parent or ""))
    )


def is_anothers(who: Identity, session: Session | None) -> bool:
    return session is not None and who.acting is not None and who.acting != session.user


class Entries(Runs):
    """The gate, and what stands around it."""

    def decide(self, entry: Entry) -> Decision:
        """Decide an entry; nothing is so yet."""
        session = self.sessions.get(entry.name)
        if entry.flaw is not None:
            return Decision("invalid_request")
        if is_anothers(entry.who, session) or (session is None and entry.verb != "start"):
            return Decision("session_not_found")
        repeated = self.repeated(entry.name, entry.run_id, entry.start)
        if repeated is not None:
            return repeated
        if session is None:
            cause = broken(entry.expect, session)
            return Decision("rejected", None, cause) if cause else Decision("started")
        for run in session.runs:
            if entry.key is not None and run.key == entry.key:
                return self.held(entry, session, run)
        return self.admit(entry, session)

    def repeated(self, name: Name, run_id: UUID | None, start: object) -> Decision | None:
        twin = self.run_named(run_id)
        if twin is None:
            return None
        if twin[0] == name and twin[1].start == start:
            return Decision("replayed", twin[1])
        return Decision("rejected", twin[1] if twin[0] == name else None, "run_id_conflict")

    def held(self, entry: Entry, session: Session, run: Run) -> Decision:
        if run.request != entry.request:
            return Decision("request_key_conflict", run)
        is_there = run.is_live or run is session.current
        return Decision("attached" if is_there else "request_already_completed", run)

    def admit(self, entry: Entry, session: Session) -> Decision:
        cause = broken(entry.expect, session)
        executes = self.executes(session)
        if executes and (entry.policy == "reject" or cause == "current_run_changed"):
            return Decision("already_running", session.current)
        if session.agent != entry.agent:
            return Decision("agent_type_mismatch")
        if self.standing(session) not in SUITS[entry.verb]:
            return Decision("not_resumable", session.current)
        if entry.checkpoint is not None and self.count_to_keep(entry, session) is None:
            return Decision("invalid_request")
        if entry.verb == "start" and changed(entry.who, session):
            return Decision("identity_mismatch")
        if cause is not None:
            return Decision("rejected", session.current, cause)
        if executes:
            return Decision("interrupting", session.current)
        return Decision("started" if entry.verb == "start" else "resumed")

    def standing(self, session: Session) -> str:
        """Say where a session stands, in the words of the table of admissions."""
        run = session.current
        if run is None:
            return "never_run"
        if self.executes(session):
            return "executing"
        status = session.landed(run) or run.status
        if status == "running":
            return "stranded"
        if status not in LIVE:
            return status
        if any(call.is_asked for call in run.calls):
            return "awaiting_calls"
        waits = any(call.status == "pending" and session.has_child(call) for call in run.calls)
        return "awaiting_children" if waits else "paused"

    def count_to_keep(self, entry: Entry, session: Session) -> int | None:
        """Return how many messages an entry that goes back keeps; none if it does not go back."""
        if entry.checkpoint is not None:
            counts = (c.keeps for c in session.checkpoints if c.checkpoint_id == entry.checkpoint)
            return next(counts, None)
        run = session.current
        if entry.verb != "retry" or run is None:
            return None
        if session.checkpoints and session.checkpoints[-1].turn == run.turn:
            return session.checkpoints[-1].keeps
        mine = [place for place, said in enumerate(session.messages) if said.turn == run.turn]
        inputs = [place for place in mine if session.messages[place].role == "user"]
        if inputs:
            return inputs[-1] + 1
        return mine[0] if mine else len(session.messages)

    def enter(self, entry: Entry, run_id: UUID) -> None:
        """Make an accepted entry so; its run got this id."""
        session = self.sessions.get(entry.name)
        state = dict(entry.patch)
        if session is None:
            who = entry.who
            session = self.sessions[entry.name] = Session(
                entry.agent, who.user or who.acting, who.tags or (), who.parent, {}, self.now,
                name=entry.name,
            )  # fmt: skip
        keeps = self.count_to_keep(entry, session)
        for checkpoint in session.checkpoints:
            if checkpoint.checkpoint_id == entry.checkpoint:
                session.state = dict(checkpoint.state)
        session.state = session.state | state
        current = session.current
        ends = (session.landed(current) if current else None) or "superseded"
        run = Run(run_id, len(session.runs) + 1, entry.verb, entry.key, entry.request, entry.start,
                  session.head, self.now)  # fmt: skip
        self.begin(session, run, ends, keeps, len(entry.says))
        session.status = "active"

    def interrupt(self, run: Run) -> None:
        run.stop = run.stop or "interrupt"
