"""The storm itself: at random, but each kind in its turn, something is broken that can break."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg

from lockgate_ops.chaos.forecast import Forecast
from lockgate_ops.chaos.places import History, Place
from lockgate_ops.chaos.proxy import Line
from lockgate_ops.embedded import EmbeddedPostgres

BACK_WITHIN_S = 30.0
AGAIN_S = 0.05
BACKENDS = """
select pid from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend'
   and pid <> pg_backend_pid()
 order by pid"""
OWNED = "select run_id from lockgate_store.runs where owner_id = %s and status = 'running'"

# How often each kind comes in one deal of the deck.
DECK = {
    "kill -9 of a worker": 4,
    "kill -9 of a server": 2,
    "short freeze": 2,
    "freeze of over three leases": 2,
    "redeploy of a worker": 1,
    "redeploy of a server": 1,
    "pg_terminate_backend": 2,
    "kill -9 of a backend": 1,
    "fast restart of the database": 1,
    "immediate restart of the database": 1,
    "cut of a line": 2,
    "slow line": 1,
    "line that swallows": 1,
}

# Those that end a process: the next trouble waits until there was one that could be ended.
ENDING = frozenset(kind for kind in DECK if kind.endswith(("of a worker", "of a server")))


@dataclass(frozen=True, slots=True)
class Bereaved:
    """The runs that a killed worker has left, by the clock on the wall."""

    at: float
    runs: frozenset[UUID]


@dataclass(slots=True)
class Troubles:
    """Breaks things, and counts what it has broken."""

    forecast: Forecast
    postgres: EmbeddedPostgres
    line: Line
    places: list[Place]
    over: asyncio.Event
    history: History
    count: Counter[str] = field(default_factory=Counter)
    bereaved: list[Bereaved] = field(default_factory=list)
    restarting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def had_all(self) -> bool:
        """Whether each kind has happened."""
        return not self.missing()

    def missing(self) -> list[str]:
        """Return the kinds that have not happened."""
        return [kind for kind in DECK if kind not in self.count]

    async def storm(self) -> None:
        """Break until it is over, and then until all that was frozen or cut is whole again."""
        rng = random.Random(f"{self.forecast.seed} troubles")
        kinds = self._dealt(rng)
        async with asyncio.TaskGroup() as under_way:
            while not self.over.is_set():
                try:
                    async with asyncio.timeout(rng.uniform(*self.forecast.calm_s)):
                        await self.over.wait()
                except TimeoutError:
                    kind = next(kinds)
                    breaking = under_way.create_task(self._break(kind, rng))
                    if kind in ENDING:
                        await breaking

    def _dealt(self, rng: random.Random) -> Iterator[str]:
        while True:
            deck = [kind for kind, times in DECK.items() for _ in range(times)]
            # The first of each kind comes before the second of any, so that a short storm has all.
            rng.shuffle(deck)
            seen: Counter[str] = Counter()
            rounds: dict[int, list[str]] = defaultdict(list)
            for kind in deck:
                rounds[seen[kind]].append(kind)
                seen[kind] += 1
            for kinds in rounds.values():
                yield from kinds

    async def _break(self, kind: str, rng: random.Random) -> None:
        acts: dict[str, Callable[[], Awaitable[bool]]] = {
            "kill -9 of a worker": lambda: self._kill("worker", rng),
            "kill -9 of a server": lambda: self._kill("server", rng),
            "short freeze": lambda: self._freeze(rng.uniform(0.2, 0.4), rng),
            "freeze of over three leases": lambda: self._freeze(rng.uniform(3.1, 3.6), rng),
            "redeploy of a worker": lambda: self._redeploy("worker", rng),
            "redeploy of a server": lambda: self._redeploy("server", rng),
            "pg_terminate_backend": lambda: self._terminate_backend(rng),
            "kill -9 of a backend": lambda: self._kill_backend(rng),
            "fast restart of the database": lambda: self._restart("fast"),
            "immediate restart of the database": lambda: self._restart("immediate"),
            "cut of a line": self._cut,
            "slow line": lambda: self._slow(rng),
            "line that swallows": lambda: self._swallow(rng),
        }
        self.history.note(kind)
        if await acts[kind]():
            self.count[kind] += 1

    async def _place(self, role: str | None, rng: random.Random) -> Place | None:
        """Choose a process; a worker only where it is not the last, and wait for that.

        A slow machine would else be starting workers all the time, and none would do anything.
        """
        while not self.over.is_set():
            there = [
                place
                for place in self.places
                if place.is_up and not place.is_frozen and role in (None, place.role)
            ]
            workers = sum(place.role == "worker" for place in there)
            is_spared = workers == 1 and self.forecast.workers > 1
            fit = [place for place in there if place.role == "server" or not is_spared]
            if fit:
                return rng.choice(fit)
            await asyncio.sleep(AGAIN_S)
        return None

    async def _kill(self, role: str, rng: random.Random) -> bool:
        place = await self._place(role, rng)
        if place is None:
            return False
        at, worker_id = time.time(), place.said
        place.kill()
        if role == "worker":
            rows = await self._asked(OWNED, [worker_id])
            self.bereaved.append(Bereaved(at, frozenset(row[0] for row in rows)))
        return True

    async def _redeploy(self, role: str, rng: random.Random) -> bool:
        place = await self._place(role, rng)
        if place is not None:
            place.redeploy()
        return place is not None

    async def _freeze(self, leases: float, rng: random.Random) -> bool:
        place = await self._place(None, rng)
        if place is None:
            return False
        with place.frozen():
            await asyncio.sleep(leases * self.forecast.lease_ms / 1_000)
        return True

    async def _terminate_backend(self, rng: random.Random) -> bool:
        """End one connection, as an administrator does."""
        pids = await self._asked(BACKENDS)
        return bool(pids) and bool(
            await self._asked("select pg_terminate_backend(%s)", [rng.choice(pids)[0]])
        )

    async def _kill_backend(self, rng: random.Random) -> bool:
        """End one backend by force: the whole server then starts over, with every link cut."""
        pids = await self._asked(BACKENDS)
        if not pids:
            return False
        os.kill(rng.choice(pids)[0], signal.SIGKILL)
        return True

    async def _restart(self, mode: Any) -> bool:
        async with self.restarting:
            await asyncio.to_thread(self.postgres.restart, mode)
        return True

    async def _cut(self) -> bool:
        await self.line.cut()
        return True

    async def _slow(self, rng: random.Random) -> bool:
        await self.line.delay(rng.uniform(0.01, 0.15), for_s=rng.uniform(1.0, 4.0))
        return True

    async def _swallow(self, rng: random.Random) -> bool:
        """For longer than a lease as a rule: who is behind cannot beat, and is taken for dead."""
        await self.line.swallow(rng.uniform(0.5, 2.5) * self.forecast.lease_ms / 1_000)
        return True

    async def _asked(self, query: str, given: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """Ask the database; where another trouble has it just now, wait until it is back."""
        deadline = time.monotonic() + BACK_WITHIN_S
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self.postgres.url, autocommit=True
                ) as conn:
                    return await (await conn.execute(query.encode(), given)).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(AGAIN_S)
