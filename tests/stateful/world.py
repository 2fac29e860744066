"""Rows and model side by side: what is asked of both, and how they are compared."""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

import psycopg

from tests.stateful.entries import Entry
from tests.stateful.facts import Name, Run, Session
from tests.stateful.model import Model
from tests.stateful.rows import Seen, drawn, look
from tests.stateful.store_client import RunStart
from tests.support.clock import Clock
from tests.support.connections import Connection
from tests.support.door import Door
from tests.support.invariants import violations
from tests.support.store import emptied

# What was done, and with what: told only where a life fails.
Told = tuple[str, object]

# Two tenants share session ids, and every session the keys.
NAMES: tuple[Name, ...] = (("", "s1"), ("", "s2"), ("", "s3"), ("acme", "s1"))
WORKERS = ("worker-1", "worker-2")
CONSUMERS = ("hook", "webhook:crm")
REMEMBERED = 6

# A store client writes a run's status first and its stream's end after it, if it lives to.
STREAM_OF_A_RUN = "A stream is active exactly while its session's current run is running."
# It suspends a run whatever that waits for, and whether or not anything will ever come.
WAITED_FOR = (
    "A suspended run waits for something, or has gone on.",
    "A sub-agent that a suspended run waits for is a child that has not ended.",
)


@dataclass(eq=False)
class Held:
    """What a worker holds after a claim, also long after it has lost it."""

    name: Name
    run: Run
    attempt: int
    drive_id: str
    head: int
    last_batch: tuple[int, list[str]] = (0, [])


class World:
    """A database without a row, and a model without a session."""

    def __init__(
        self, connection: Connection, reached: Counter[str], told: list[Told] | None = None
    ) -> None:
        assert emptied(connection)
        self.door = Door(connection)
        self.clock = Clock(connection)
        self.model = Model()
        self.reached = reached
        self.drives: dict[UUID, str] = {}
        self.held: list[Held] = []
        self.sent: deque[Entry | RunStart] = deque(maxlen=REMEMBERED)
        self.delivery_ids: deque[str] = deque(maxlen=REMEMBERED)
        self.told: list[Told] = [] if told is None else told
        self.touched: set[Name] = set()
        self.names = list(NAMES)  # Of all sessions that there ever were, children too.
        self._last_run_id = 0
        self._last_call_id = 0

    # What is asked of the rows.

    def call(self, function: str, name: Name | None = None, /, **given: object) -> Any:
        """Ask a rule, of a session where it has a name, and say so in the life's story."""
        if name is not None:
            given |= {"tenant_id": name[0], "session_id": name[1]}
            self.touched.add(name)
        self.told.append((function, given))
        return self.door.call(function, **given)

    def ask(
        self, expected: str, function: str, name: Name | None = None, /, **given: object
    ) -> Any:
        """Ask a rule, and hold that its outcome is the expected one."""
        try:
            answer = self.call(function, name, **given)
        except psycopg.DatabaseError as broken:
            if broken.sqlstate != expected:
                raise
            self.reached[f"{function}.{expected}"] += 1
            return None
        self.learn()
        assert answer.outcome == expected, f"{function}: {answer}, and not {expected}"
        self.reached[f"{function}.{answer.outcome}"] += 1
        return answer

    def learn(self) -> None:
        """Take in whom an answer has moved besides, and the ids of the runs that go on with it."""
        for session in self.model.unnamed:
            assert session.current is not None
            session.current.run_id = self.door.row(
                "select current_run_id from lockgate_store.sessions"
                " where tenant_id = %s and session_id = %s",
                *session.name,
            ).current_run_id
        self.touched |= self.model.moved
        self.model.unnamed.clear()
        self.model.moved.clear()

    # How they are compared.

    def compare_touched(self) -> None:
        """Hold that the sessions that a step has named are those of the model."""
        for name in self.touched:
            self.compare(name)
        self.touched.clear()

    def compare_all(self) -> None:
        """Hold that all sessions are those of the model, and that the invariants hold."""
        for name in self.names:
            self.compare(name)
        stored = self.door.row("select count(*) as n from lockgate_store.sessions").n
        assert stored == len(self.model.sessions)
        broken = [
            each for each in violations(self.door.connection) if not self.is_told_apart(*each)
        ]
        assert not broken, broken

    def is_told_apart(self, sentence: str, row: dict[str, Any]) -> bool:
        """Say whether a row breaks a sentence until a store client has written the last part."""
        session = self.model.sessions.get((row.get("tenant_id", ""), row.get("session_id", "")))
        if session is None or session.current is None:
            return False
        if sentence in WAITED_FOR:
            return session.current.is_told_to_wait
        return sentence == STREAM_OF_A_RUN and session.stream == "active"

    def compare(self, name: Name) -> None:
        seen, session = look(self.door.connection, name), self.model.sessions.get(name)
        if session is None or seen is None:
            assert (seen is None) == (session is None), f"{name}: {seen}"
            return
        self.drives |= {UUID(run): drive for run, drive in (seen.pop("drives") or {}).items()}
        expected = drawn(session)
        assert seen == expected, f"{name}: {_differences(seen, expected)}"

    # What a dice finds to do something with.

    def new_run_id(self) -> UUID:
        """Return a run id that is not in use; the same life always gets the same ones."""
        self._last_run_id += 1
        return UUID(int=self._last_run_id, version=4)

    def new_call_id(self) -> str:
        """Return the id of a call that others answer: no session has one that another has."""
        self._last_call_id += 1
        return f"call-{self._last_call_id}"

    def a_name(self, dice: Random) -> Name:
        """Return the name of a session, there or not; now and then a child's."""
        return dice.choice(self.names if dice.random() < 0.3 else NAMES)

    def drive_of(self, name: Name, run: Run) -> str:
        """Return the drive of a run's present attempt, as the rows have it now."""
        if name in self.touched:
            self.touched.remove(name)
            self.compare(name)
        return self.drives[run.run_id]

    def running(self) -> list[tuple[Name, Session, Run]]:
        return [each for each in self.current_runs() if each[2].status == "running"]

    def current_runs(self) -> list[tuple[Name, Session, Run]]:
        return list(self._current_runs())

    def _current_runs(self) -> Iterator[tuple[Name, Session, Run]]:
        for name, session in self.model.sessions.items():
            if session.current is not None:
                yield name, session, session.current

    def valid(self) -> list[Held]:
        return [held for held in self.held if self.model.holds(held.run, held.attempt)]

    def newest(self, dice: Random) -> Held | None:
        """Return what a worker holds; rarely what it has lost, long ago or not."""
        valid = self.valid()
        if valid and dice.random() < 0.85:
            return dice.choice(valid)
        return dice.choice(self.held[-8:]) if self.held and dice.random() < 0.5 else None

    def session_of(self, held: Held) -> Session:
        """Return a holder's session; one that is deleted takes what comes late, to no effect."""
        session = self.model.sessions.get(held.name)
        if session is not None and held.run in session.runs:
            return session
        return Session("", None, (), None, {}, 0)


def _differences(seen: Seen, expected: Seen) -> str:
    parts = [
        f"{part} is {seen[part]}, and not {expected[part]}"
        for part in expected
        if seen[part] != expected[part]
    ]
    return re.sub(r"0{8}-0{4}-4000-8000-0{6,11}", "…", "; ".join(parts))
