"""The storm itself: every few seconds something is killed in the middle of whatever it does."""

import asyncio
import os
import random
import signal
from collections import Counter

import psycopg

from tests.storm.forecast import Forecast
from tests.storm.servers import Server

BACKENDS = """
select pid from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend'
   and pid <> pg_backend_pid()
 order by pid
"""


class Kills:
    """Kills at random, and counts what it has killed."""

    def __init__(self, forecast: Forecast, url: str, servers: list[Server]) -> None:
        self.count: Counter[str] = Counter()
        self._forecast = forecast
        self._url = url
        self._servers = servers
        self._rng = random.Random(f"{forecast.seed} kills")

    async def storm(self, over: asyncio.Event) -> None:
        """Kill until it is over."""
        kinds = [self._link, self._backend, self._process]
        while not over.is_set():
            try:
                async with asyncio.timeout(self._rng.uniform(*self._forecast.calm_s)):
                    await over.wait()
            except TimeoutError:
                await self._rng.choices(kinds, [4, 2, 3])[0]()

    async def _link(self) -> None:
        """End one connection, as an administrator does."""
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as link:
            victim = await self._victim(link)
            await link.execute("select pg_terminate_backend(%s)", [victim])
        self.count["pg_terminate_backend"] += 1

    async def _backend(self) -> None:
        """End one backend by force: the whole server then starts over, with every link cut."""
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as link:
            victim = await self._victim(link)
        os.kill(victim, signal.SIGKILL)
        self.count["kill -9 of a backend"] += 1
        await self._is_back()

    async def _process(self) -> None:
        """End a server process by force; the next one takes its place."""
        await self._rng.choice(self._servers).killed()
        self.count["kill -9 of a server process"] += 1

    async def _victim(self, link: psycopg.AsyncConnection[tuple[int]]) -> int:
        rows = await (await link.execute(BACKENDS)).fetchall()
        return self._rng.choice(rows)[0]

    async def _is_back(self) -> None:
        async with asyncio.timeout(30):
            while True:
                try:
                    await (await psycopg.AsyncConnection.connect(self._url)).close()
                    return
                except psycopg.OperationalError:
                    await asyncio.sleep(0.05)
