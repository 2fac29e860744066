"""Where the sessions of one process stand still for good: each at its own n-th commit.

Armed in a process of its own, before it works. A session that stands writes no more from here, and
all that the process had in memory of it is lost when the process dies, which it does once the gate
`die` is open: right then, commits whose answers nobody will read are on their way. So one death is
a crash at as many commits as there are sessions, and each is left as its own crash leaves it.
"""

import asyncio
import os
import select
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, LiteralString

import psycopg
from psycopg.waiting import Ready, Wait

import lockgate.ending
from lockgate.database import Database
from lockgate.ending import EndStep
from lockgate.errors import StoreUnavailable
from lockgate.rules import recovery, sessions, settlement
from tests.support.points import COMMITS, Point, Standstill
from tests.support.stage import Stage

# What a loop of a worker calls, which goes on with the next session.
BY_LOOPS = (
    *(recovery.continue_session, sessions.fail_session_without_run, settlement.mark_delivered),
)
OWN_FINDINGS = ("raised", "drained")  # those of a drive; with any other a sweep has called
LINKS = 40  # as many commits can be on their way when the process dies,
END_LINKS = 30  # and so many ends
CRASHED = 9  # the exit code of who died here


class Stands(RuntimeError):
    """Tells a loop that a session stands, so that it goes on with the next one."""


@dataclass
class _Family:
    """A root session with its children, and how far it has come."""

    name: str
    point: Point
    count: int = 0
    stands: bool = False
    ends: dict[Any, str] = field(default_factory=dict)

    def is_meant(self, session_id: str) -> bool:
        whose = self.point.whose
        return whose == "family" or (whose == "root") == (session_id == self.name)

    def meets(self, rule: str) -> bool:
        """Count a commit, and say whether it is the one."""
        if not self.point.counts(rule):
            return False
        self.count += 1
        return self.count == self.point.n


class _Process:
    """What is known in this process of all its sessions."""

    def __init__(self, standstill: Standstill, stage: Stage) -> None:
        self._stage = stage
        self._families = {n: _Family(n, point) for n, point in standstill.points.items()}
        self._roots = {name: name for name in self._families}
        self._standing = 0
        self._arrived = 0
        self._sends: set[int] = set()
        self._commits: set[int] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.url = ""

    @cached_property
    def _dies(self) -> asyncio.Event:
        """What is set when the gate is open; who asks first has it watched."""
        self.leave(self._watch())
        return asyncio.Event()

    def leave(self, work: Any) -> None:
        """Let something go on by itself."""
        self._tasks.add(asyncio.get_running_loop().create_task(work))

    def watch(self) -> None:
        """Look from now on whether the gate is open."""
        assert self._dies is not None

    async def _watch(self) -> None:
        while not self._stage.is_open("die"):
            await asyncio.sleep(0.02)
        self._dies.set()
        self._die_if_all_are_there()

    def family(self, given: Mapping[str, Any]) -> _Family | None:
        """Find whose commit it is, if it counts for anybody."""
        session_id = given.get("session_id") or self._ask(
            "select session_id from lockgate_store.runs where run_id::text = %s",
            given["delivery_id"].partition(":")[0],
        )
        if session_id not in self._roots:
            self._roots[session_id] = self._root_of(session_id)
        family = self._families.get(self._roots[session_id])
        return family if family is not None and family.is_meant(session_id) else None

    def _root_of(self, session_id: str) -> str:
        query = "select root_session_id from lockgate_store.sessions where session_id = %s"
        return self._ask(query, session_id) or session_id

    def _ask(self, query: LiteralString, value: str) -> str:
        """Ask the database beside all that is counted."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(query, [value]).fetchone()
        return str(row[0] or "") if row else ""

    def note(self, family: _Family, what: str, rule: str, given: Mapping[str, Any]) -> None:
        named = {name: given.get(name) for name in ("session_id", "run_id", "step", "ordinal")}
        told = {"row": family.name, "rule": rule, "n": family.count, "when": family.point.when}
        self._stage.note(what, **told, **named)

    def stand(self, family: _Family, rule: str, given: Mapping[str, Any]) -> None:
        """Say that a session stands here from now on."""
        self._standing += 1
        self.note(family, "stands", rule, given)

    def arrive(self) -> None:
        """Say that there is nothing left to be done for one that stands."""
        self._arrived += 1
        self._die_if_all_are_there()

    def _die_if_all_are_there(self) -> None:
        if self._dies.is_set() and self._arrived == self._standing:
            self._stage.note("crash", stands=self._standing)
            os._exit(CRASHED)

    async def for_ever(self) -> Any:
        await asyncio.Event().wait()

    async def death(self) -> None:
        await self._dies.wait()

    # One commit that is one call of a rule.

    async def call(self, ask: Callable[..., Any], rule: Any, given: dict[str, Any]) -> Any:
        """Make a call, or stand where it would be made or has been."""
        self.watch()
        family = self.family(given) if rule in COMMITS else None
        if family is None:
            return await ask(rule, **given)
        if family.stands:
            return await self._stays(rule, given)
        if not family.meets(rule.__name__):
            answer = await ask(rule, **given)
            self.note(family, "commit", rule.__name__, given)
            return answer
        family.stands = True
        try:
            await self._meet(family, ask, rule, given)
        except Exception as weather:  # It was not committed: the next try is the n-th commit.
            family.stands, family.count = False, family.count - 1
            self._stage.note("weather", row=family.name, rule=rule.__name__, error=repr(weather))
            raise
        return await self._stays(rule, given)

    async def _meet(
        self, family: _Family, ask: Callable[..., Any], rule: Any, given: dict[str, Any]
    ) -> None:
        when = family.point.when
        if when == "after":
            await ask(rule, **given)
        self.stand(family, rule.__name__, given)
        if when == "sent":
            self.leave(self._send(ask, rule, given))
        else:
            self.arrive()

    async def _send(self, ask: Callable[..., Any], rule: Any, given: dict[str, Any]) -> None:
        async def sent(conn: Any, **named: Any) -> Any:
            self._sends.add(id(conn))
            return await rule(conn, **named)

        await self.death()
        await ask(sent, **given)

    async def _stays(self, rule: Any, given: Mapping[str, Any]) -> Any:
        by_drive = given.get("finding") in OWN_FINDINGS
        if given.get("finding") == "drained" and self._standing < len(self._families):
            raise StoreUnavailable(committed=None)  # The others are handed over, too.
        if rule in BY_LOOPS or (rule is recovery.requeue_run and not by_drive):
            raise Stands
        return await self.for_ever()

    # The end of an attempt, which is a transaction of several statements.

    async def end(self, ask: Callable[..., Any], rule: str, given: dict[str, Any]) -> Any:
        family = self.family(given)
        if family is None:
            return await ask(rule, **given)
        if family.stands:
            return await self.for_ever()
        if not family.meets(rule):
            answer = await ask(rule, **given)
            self.note(family, "commit", rule, given)
            return answer
        family.stands = True
        if family.point.when == "after":
            await ask(rule, **given)
            self.stand(family, rule, given)
            self.arrive()
        else:
            self.stand(family, rule, given)
            await self.death()
            family.ends[given["run_id"]] = family.point.when
            await ask(rule, **given)
        return await self.for_ever()

    async def inside(self, step: EndStep, given: Mapping[str, Any]) -> None:
        """Stand inside the transaction of an end, or have its commit sent."""
        family = self.family(given)
        when = family.ends.get(given["run_id"]) if family else None
        if when == "before":
            self.arrive()
            await self.for_ever()
        elif when == "sent":
            connection = await step._datasource.sql_session().connection()
            raw = await connection.get_raw_connection()
            self._commits.add(id(raw.driver_connection))

    def commits(self, conn: Any) -> None:
        if id(conn) in self._commits:
            self._sends.add(id(conn))

    def sends(self, conn: Any) -> bool:
        return id(conn) in self._sends

    async def send(self, conn: Any, statement: Generator[Any, Any, Any]) -> None:
        """Send a statement to its last byte, and never read what it is answered."""
        state = next(statement)
        while state != Wait.R:
            select.select((), (conn.fileno(),), ())
            state = statement.send(Ready.W)
        self.arrive()
        await self.for_ever()


def stand_still(standstill: Standstill, stage: Stage) -> None:
    """Make the sessions of this process stand, each at its point."""
    process = _Process(standstill, stage)
    lockgate.ending.POOL_SIZE = END_LINKS
    init, call_once = Database.__init__, Database.call_once
    end, end_inside = EndStep.__call__, EndStep._end
    wait, commit = psycopg.AsyncConnection.wait, psycopg.AsyncConnection.commit

    def wide(self: Database, url: str, **given: Any) -> None:
        process.url = url
        init(self, url, **{**given, "pool_size": LINKS})

    async def standing_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        async def ask(rule: Any, **given: Any) -> Any:
            return await call_once(self, rule, *args, **given)

        return await process.call(ask, rule, given)

    async def standing_end(self: EndStep, rule: str, **given: Any) -> Any:
        async def ask(rule: str, **given: Any) -> Any:
            return await end(self, rule, **given)

        return await process.end(ask, rule, given)

    async def cut_end(self: EndStep, rule: str, given: dict[str, Any]) -> Any:
        answer = await end_inside(self, rule, given)
        await process.inside(self, given)
        return answer

    async def cut_wait(self: Any, statement: Any, *args: Any, **given: Any) -> Any:
        if process.sends(self):
            return await process.send(self, statement)
        return await wait(self, statement, *args, **given)

    async def cut_commit(self: Any) -> None:
        process.commits(self)
        await commit(self)

    Database.__init__ = wide  # type: ignore[method-assign]
    Database.call_once = standing_call  # type: ignore[method-assign]
    EndStep.__call__ = standing_end  # type: ignore[method-assign]
    EndStep._end = cut_end  # type: ignore[method-assign]
    psycopg.AsyncConnection.wait = cut_wait  # type: ignore[method-assign,assignment]
    psycopg.AsyncConnection.commit = cut_commit  # type: ignore[method-assign]
