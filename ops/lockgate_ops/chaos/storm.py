"""One storm over one cluster: who asks, what breaks, and the calm in which all is to end."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg

from lockgate.database import Database
from lockgate_ops.chaos import agents
from lockgate_ops.chaos.askers import Askers, look_on
from lockgate_ops.chaos.clients import Sent
from lockgate_ops.chaos.consumer import consume
from lockgate_ops.chaos.forecast import POISON_MODEL, POISON_TOOL, Forecast
from lockgate_ops.chaos.ledger import Ledger
from lockgate_ops.chaos.places import History, Place, Role
from lockgate_ops.chaos.proxy import Line
from lockgate_ops.chaos.readers import Reader
from lockgate_ops.chaos.tellers import (
    LATE_TALES,
    POISON_MODEL_TALES,
    POISON_TOOL_TALES,
    TALES,
    Teller,
)
from lockgate_ops.chaos.troubles import Troubles
from lockgate_ops.chaos.ways import OverHttp
from lockgate_ops.children import Children
from lockgate_ops.embedded import EmbeddedPostgres

TELL_EVERY_S = 5.0
LONGER_S = 90.0
READY_WITHIN_S = 90.0
QUIET_WITHIN_S = 120.0
LOOK_EVERY_S = 0.2
DRAIN_S = "1.0"
POISON_PAUSE_S = 40.0  # each tale ends some workers, and a machine starts only so many
LATE = 8  # of so many sessions one leaves its answer until the storm has passed
BUSY = """
select (select count(*) from lockgate_store.runs where status = 'running')
     + (select count(*) from lockgate_store.deliveries where delivered_at is null)"""
RUNS = "select count(*) from lockgate_store.runs"


@dataclass(slots=True)
class Storm:
    """Everything that takes part, and what is known of it when it has passed."""

    forecast: Forecast
    postgres: EmbeddedPostgres
    folder: Path
    say: Callable[[str], None]
    ledger: Ledger = field(default_factory=Ledger)
    sent: Sent = field(default_factory=Sent)
    history: History = field(default_factory=History)
    reads: Counter[str] = field(default_factory=Counter)
    readers: list[Reader] = field(default_factory=list)
    troubles: Troubles | None = None
    wrong: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Let the storm pass, and then wait until all is quiet."""
        line = Line(self.postgres.url)
        self.history.diary = self.folder / "storm.log"
        gone, over, closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        with Children() as children:
            async with line.open(), asyncio.TaskGroup() as keeping:
                places = self._places(children, line)
                self.troubles = Troubles(
                    self.forecast, self.postgres, line, places, gone, self.history
                )
                for place in places:
                    keeping.create_task(place.keep(closing))
                keeping.create_task(consume(self.postgres.url, closing))
                await self._all_up(places)
                async with self._looking_on(places):
                    async with self._asking(places, gone, over):
                        await self._passed(self.troubles, gone)
                        await self._all_up(places)
                        over.set()
                    await self._quiet()
                closing.set()

    def _places(self, children: Children, line: Line) -> list[Place]:
        """Every other process reaches the database through the bad line."""
        places = []
        counts: dict[Role, int] = {
            "server": self.forecast.servers,
            "worker": self.forecast.workers,
        }
        for role, count in counts.items():
            for number in range(count):
                url = line.url if number % 2 else self.postgres.url
                log = self.folder / f"{role}-{number}.log"
                settings = {
                    "database_url": url,
                    "agents": agents.LOADED,
                    "lease_ms": str(self.forecast.lease_ms),
                    "drain_s": DRAIN_S,
                    "log_level": "info",
                }
                places.append(Place(children, role, log, self.history, **settings))
        return places

    @asynccontextmanager
    async def _asking(
        self, places: list[Place], gone: asyncio.Event, over: asyncio.Event
    ) -> AsyncIterator[None]:
        """Let all clients ask; they begin nothing new once the block is left, and end what runs.

        gone  the storm has passed; over  all processes are there again, too
        """
        servers = _servers(places)
        database = Database(self.postgres.url)
        askers = Askers(self.forecast, servers, database, self.ledger, self.reads, self.wrong)
        async with AsyncExitStack() as stack:
            await database.open()
            stack.push_async_callback(database.close)
            reading = await stack.enter_async_context(
                httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=None))
            )
            async with asyncio.TaskGroup() as telling:
                for number, session_id in enumerate(
                    (*self.forecast.told, POISON_MODEL, POISON_TOOL)
                ):
                    rng = random.Random(f"{self.forecast.seed} {session_id}")
                    way = OverHttp(servers, rng)
                    stack.push_async_callback(way.close)
                    reader = Reader(session_id, servers, rng, reading)
                    self.readers.append(reader)
                    teller = Teller(session_id, way, reader, rng, self.ledger, self.sent)
                    tales, pause_s = self._tales(number, session_id)
                    telling.create_task(teller.tell(tales, gone, over, pause_s))
                telling.create_task(askers.ask(gone))
                yield

    @asynccontextmanager
    async def _looking_on(self, places: list[Place]) -> AsyncIterator[None]:
        """Read the contested sessions until the block is left, when nothing more is written."""
        servers, quiet = _servers(places), asyncio.Event()
        async with (
            httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=None)) as client,
            asyncio.TaskGroup() as reading,
        ):
            for session_id in self.forecast.contested:
                rng = random.Random(f"{self.forecast.seed} {session_id}")
                reader = Reader(session_id, servers, rng, client, may_be_early=True)
                self.readers.append(reader)
                reading.create_task(look_on(reader, quiet))
            yield
            quiet.set()

    def _tales(self, number: int, session_id: str) -> tuple[Mapping[str, int], float]:
        """Return the tales of a session, and how long its client pauses between two."""
        if session_id == POISON_MODEL:
            return POISON_MODEL_TALES, POISON_PAUSE_S
        if session_id == POISON_TOOL:
            return POISON_TOOL_TALES, POISON_PAUSE_S
        pause_s = len(self.forecast.told) / self.forecast.runs_in_s
        return LATE_TALES if number % LATE == 0 else TALES, pause_s

    async def _passed(self, troubles: Troubles, gone: asyncio.Event) -> None:
        """Let the storm rage for its time, and say every few seconds how it goes.

        It goes on until each kind of trouble has come: a slow machine needs longer for that.
        """
        until = time.monotonic() + self.forecast.seconds
        raging = asyncio.create_task(troubles.storm())
        while (left_s := until - time.monotonic()) > 0 or (
            not troubles.had_all and left_s > -LONGER_S
        ):
            await asyncio.sleep(min(left_s, TELL_EVERY_S) if left_s > 0 else TELL_EVERY_S)
            broken = ", ".join(f"{kind} {n}" for kind, n in sorted(troubles.count.items()))
            self.say(
                f"{max(0, left_s - TELL_EVERY_S):4.0f} s left   {self.ledger.count.total()} "
                f"entries, {self.sent.tales.total()} tales   {broken}"
            )
        gone.set()
        await raging

    async def _all_up(self, places: list[Place]) -> None:
        """Wait until a process is ready at each place."""
        deadline = time.monotonic() + READY_WITHIN_S
        while not all(place.is_up for place in places):
            if time.monotonic() > deadline:
                self.wrong.append(f"not every process is ready within {READY_WITHIN_S} s")
                return
            await asyncio.sleep(LOOK_EVERY_S)

    async def _quiet(self) -> None:
        """Wait until nothing executes, and everybody is told of all that has settled."""
        self.say("the storm has passed; waiting until nothing executes any more")
        deadline = time.monotonic() + QUIET_WITHIN_S
        async with await psycopg.AsyncConnection.connect(
            self.postgres.url, autocommit=True
        ) as conn:
            while (busy := await (await conn.execute(BUSY)).fetchone()) != (0,):
                if time.monotonic() > deadline:
                    self.wrong.append(f"not quiet within {QUIET_WITHIN_S} s: {busy} are under way")
                    return
                await asyncio.sleep(LOOK_EVERY_S)


def _servers(places: list[Place]) -> list[Place]:
    return [place for place in places if place.role == "server"]
