"""Clients who all ask for the same few sessions, each in its own way, and often for the same."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

from lockgate import StoreUnavailable
from lockgate.database import Database
from lockgate.rules import sessions
from lockgate_ops.chaos.forecast import Forecast
from lockgate_ops.chaos.ledger import Ledger
from lockgate_ops.chaos.places import Place
from lockgate_ops.chaos.readers import Reader
from lockgate_ops.chaos.ways import UNKNOWN, Answer, ByRuntime, InPlainSql, OverHttp, Way
from lockgate_ops.chaos.wishes import Wish, Wisher

READS = 0.2  # of all requests
REPEATS = 60  # of a wish whose outcome is unknown, half a second apart
AGAIN_S = 0.5
DOUBLES = 0.3  # of what has started a run is asked once more at once, as by an impatient hand
ASKERS = 12


@dataclass(slots=True)
class Askers:
    """All of them, over one database and its servers.

    reads  how each way's reads were answered
    """

    forecast: Forecast
    servers: list[Place]
    database: Database
    ledger: Ledger
    reads: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    async def ask(self, over: asyncio.Event) -> None:
        """Ask until it is over, and let each hear of what it has asked."""
        recent: deque[Wish] = deque(maxlen=50)
        checkpoints: dict[str, str] = {}
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as asking:
            asking.create_task(self._find_checkpoints(checkpoints, over))
            for number in range(ASKERS):
                rng = random.Random(f"{self.forecast.seed} asker {number}")
                way = self._way(number, rng)
                stack.push_async_callback(way.close)
                over_http = isinstance(way, OverHttp)
                wisher = Wisher(self.forecast, rng, over_http, recent, checkpoints)
                asking.create_task(self._client(way, wisher, over))

    def _way(self, number: int, rng: random.Random) -> Way:
        if number % 2 == 0:
            return OverHttp(self.servers, rng)
        return ByRuntime(self.database) if number % 4 == 1 else InPlainSql(self.database.url)

    async def _client(self, way: Way, wisher: Wisher, over: asyncio.Event) -> None:
        pause_s = ASKERS / self.forecast.asks_in_s
        while not over.is_set():
            await asyncio.sleep(wisher.rng.uniform(0, 2 * pause_s))
            wish = wisher.next()
            if wisher.rng.random() < READS:
                self.reads[f"{way.name}: {await way.read(wish.session_id)}"] += 1
                continue
            answer = await self._heard(way, wish)
            if answer.label == "started" and wish.may_repeat and self._doubles(way, wisher.rng):
                await self._heard(way, wish)

    def _doubles(self, way: Way, rng: random.Random) -> bool:
        """Say whether to ask once more; always until that has been answered as it should once."""
        return self.ledger.count[f"{way.name}: attached"] == 0 or rng.random() < DOUBLES

    async def _heard(self, way: Way, wish: Wish) -> Answer:
        """Ask until something is said, as far as the same request can be sent again."""
        for _ in range(REPEATS):
            answer = await way.ask(wish)
            self.ledger.note(way.name, wish, answer)
            if answer.label not in UNKNOWN or not wish.may_repeat:
                return answer
            await asyncio.sleep(AGAIN_S)
        self.wrong.append(f"nothing is said to {wish}")
        return answer

    async def _find_checkpoints(self, found: dict[str, str], over: asyncio.Event) -> None:
        """Read now and then where the sessions could be taken back to: some way back."""
        while not over.is_set():
            await asyncio.sleep(AGAIN_S)
            for session_id in self.forecast.contested:
                with suppress(StoreUnavailable):
                    page = await self.database.call(
                        sessions.list_checkpoints, session_id=session_id
                    )
                    found.update((session_id, str(item["id"])) for item in page.items or [])


async def look_on(reader: Reader, quiet: asyncio.Event) -> None:
    """Read a session whose runs others start, from end to end, and once more when all is quiet."""
    while not quiet.is_set():
        await reader.follow()
        await asyncio.sleep(AGAIN_S)
    await reader.follow()
