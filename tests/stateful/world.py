"""What the stateful test holds in its hands: the rows, the model, and the thread between them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg
from hypothesis.stateful import RuleBasedStateMachine, invariant

from tests.stateful.model import Model, Run, Session
from tests.support.clock import Clock
from tests.support.cluster import LentDatabase
from tests.support.door import Door, Drive
from tests.support.invariants import violations
from tests.support.store import emptied

NAMES = ["s1", "s2", "s3"]


@dataclass(eq=False)
class Held:
    """What a worker holds after a claim, also long after it has lost it."""

    name: str
    run: Run
    drive: Drive
    last_batch: tuple[int, list[str]] = (0, [])


class World(RuleBasedStateMachine):
    """A database without a row, and a model without a session."""

    def __init__(self, database: LentDatabase) -> None:
        super().__init__()
        assert emptied(database.warm)
        self.door = Door(database.warm)
        self.clock = Clock(database.warm)
        self.model = Model()
        self.ids: dict[tuple[str, int], UUID] = {}
        self.held: list[Held] = []

    # What is so after each step.

    @invariant()
    def the_rows_are_those_of_the_model(self) -> None:
        sessions = {
            row.session_id: (row.status, row.message_count, row.turn_count, row.head)
            for row in self.door.rows(
                "select s.*, coalesce(st.head_sequence, 0) as head from lockgate_store.sessions s"
                " left join lockgate_store.streams st using (tenant_id, session_id)"
            )
        }
        runs = {
            (row.session_id, row.turn): (
                row.status,
                row.attempt,
                row.owner_id,
                row.step_count,
                row.stop_kind,
            )
            for row in self.door.rows("select * from lockgate_store.runs")
        }

        assert sessions == {
            name: (s.status, s.messages, len(s.runs), s.head)
            for name, s in self.model.sessions.items()
        }
        assert runs == {
            (name, r.turn): (r.status, r.attempt, r.owner, r.steps, r.stop)
            for name, s in self.model.sessions.items()
            for r in s.runs
        }

    @invariant()
    def the_settlements_are_those_of_the_model(self) -> None:
        rows = self.door.rows("select * from lockgate_store.settlements")
        settled = {(row.session_id, self.turn_of(row.run_id), row.status) for row in rows}

        assert settled == self.model.settled

    @invariant()
    def the_invariants_hold(self) -> None:
        assert violations(self.door.connection) == []

    # The thread between model and rows.

    def expectation(self, name: str, plan: str | None) -> dict[str, str | None] | None:
        """Return what a planner would pass who saw the session as it is, or as it is not."""
        if plan is None:
            return None
        session = self.model.sessions.get(name)
        run = session.current if session else None
        seen: dict[str, str | None] = {
            "currentRunId": str(self.ids[name, run.turn]) if run else None,
            "currentRunStatus": run.status if run else None,
            "sessionStatus": session.status if session else None,
        }
        if plan == "another run":
            seen["currentRunId"] = str(uuid4())
        if plan == "another status":
            seen["sessionStatus"] = "paused"
        return seen

    def never_run(self) -> list[str]:
        """Return the sessions that have no run, or are not there."""
        known = self.model.sessions
        return [name for name in NAMES if name not in known or not known[name].runs]

    def keyed(self) -> list[tuple[str, Run]]:
        """Return the runs that hold a key, the newest first."""
        return [
            (name, run)
            for name, session in self.model.sessions.items()
            for run in reversed(session.runs)
            if run.key is not None
        ]

    def newest(self, nth: int) -> Held:
        """Return what is still held, the newest first, and then what is lost."""
        newest = list(reversed(self.held))
        mine = [held for held in newest if self.model.holds(held.run, held.drive.attempt)]
        first = mine + [held for held in newest if held not in mine]
        return first[nth % len(first)]

    def running(self) -> list[tuple[str, Run]]:
        """Return the runs that are running, with the names of their sessions."""
        return [
            (name, session.current)
            for name, session in self.model.sessions.items()
            if session.current is not None and session.current.status == "running"
        ]

    def session(self, held: Held) -> Session:
        return self.model.sessions[held.name]

    def id_of(self, name: str, run: Run) -> UUID:
        return self.ids[name, run.turn]

    def turn_of(self, run_id: UUID) -> int:
        return next(turn for (_, turn), known in self.ids.items() if known == run_id)

    @staticmethod
    def label(call: Any, *given: object) -> str:
        """Return a call's outcome, or the code of the promise that it broke."""
        try:
            return str(call(*given).outcome)
        except psycopg.DatabaseError as broken:
            return str(broken.sqlstate)
