"""A bad line to the database: it passes bytes on, and now and then cuts, delays or swallows them.

It knows nothing of what is said. A link that has lost bytes is cut when the line is good again:
what is left of it would be no protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

SIZE = 1 << 16

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Line:
    """One address in front of a database."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._links: set[asyncio.Task[None]] = set()
        self._damaged: set[asyncio.Task[None]] = set()
        self._port = 0
        self._delay_s = 0.0
        self._swallows = False

    @property
    def url(self) -> str:
        """The database's URL that leads through here."""
        credentials, _, _ = self._parts.netloc.rpartition("@")
        return self._parts._replace(netloc=f"{credentials}@127.0.0.1:{self._port}").geturl()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Pass on for as long as the block lasts."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            await self.cut()

    async def cut(self) -> None:
        """Cut every connection in the middle of whatever it carries."""
        await _cancelled(self._links)

    async def delay(self, each_s: float, for_s: float) -> None:
        """Keep back whatever comes for a moment, for a while."""
        self._delay_s = each_s
        await asyncio.sleep(for_s)
        self._delay_s = 0.0

    async def swallow(self, for_s: float) -> None:
        """Let nothing through for a while, and tell nobody; then cut what has lost something."""
        self._swallows = True
        await asyncio.sleep(for_s)
        self._swallows = False
        await _cancelled(self._damaged)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own: asyncio complains of one that it made and that we cancel.
        link = asyncio.create_task(self._carry((reader, writer)))
        self._links.add(link)
        link.add_done_callback(self._links.discard)
        link.add_done_callback(self._damaged.discard)

    async def _carry(self, client: Ends) -> None:
        server: Ends | None = None
        pumps: list[asyncio.Task[None]] = []
        link = asyncio.current_task()
        assert link is not None
        try:
            target = (str(self._parts.hostname), self._parts.port)
            server = await asyncio.open_connection(*target)
            pumps = [
                asyncio.create_task(self._pump(link, client[0], server[1])),
                asyncio.create_task(self._pump(link, server[0], client[1])),
            ]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass  # The database is not there, and the client learns it by the closed link.
        finally:
            for pump in pumps:
                pump.cancel()
            for ends in (client, server):
                if ends is not None:
                    ends[1].transport.abort()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(
        self, link: asyncio.Task[None], source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        while data := await source.read(SIZE):
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            if self._swallows:
                self._damaged.add(link)
            else:
                sink.write(data)
                await sink.drain()


async def _cancelled(links: set[asyncio.Task[None]]) -> None:
    gone = [*links]
    for link in gone:
        link.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
