"""One address of a database, as a managed Postgres has one: it can lead elsewhere, cut, or swallow.

It knows nothing of what is said; for that there is fault_proxy.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.support.seen import WITHIN_S
from tests.support.served import drained, in_a_thread

SIZE = 1 << 16
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Passage:
    """One connection through the endpoint; once it is dead it stays so, and nobody is told."""

    def __init__(self, *, is_dead: bool) -> None:
        self.is_dead = is_dead
        self.port = 0

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(SIZE):
            if not self.is_dead:
                writer.write(data)
                await writer.drain()


class Endpoint:
    """An address in front of a database."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._target = _place(url)
        self._port = 0
        self._is_away = False
        self._swallows = False
        self._passages: dict[asyncio.Task[None], _Passage] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """The database's URL that leads through here."""
        credentials, _, _ = self._parts.netloc.rpartition("@")
        return self._parts._replace(netloc=f"{credentials}@127.0.0.1:{self._port}").geturl()

    @property
    def ports(self) -> list[int]:
        """The connections there are, as the server sees where they come from."""
        return [passage.port for passage in [*self._passages.values()]]

    def turn_to(self, url: str) -> None:
        """Lead new connections to another server; those there are, stay."""
        self._target = _place(url)

    def lead_to(self, url: str) -> None:
        """Lead every connection to another server: those there are, are cut."""
        self.turn_to(url)
        self.cut()

    def cut(self) -> None:
        """Cut every connection."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(WITHIN_S)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Cut every connection, and take none in the block."""
        self._is_away = True
        self.cut()
        try:
            yield
        finally:
            self._is_away = False

    def swallow(self) -> None:
        """Let nothing pass any more over the connections there are, ever."""
        for passage in [*self._passages.values()]:
            passage.is_dead = True

    @contextmanager
    def black_hole(self) -> Iterator[None]:
        """Swallow what is said over every connection, also over those made in the block."""
        self._swallows = True
        self.swallow()
        try:
            yield
        finally:
            self._swallows = False

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        """Pass on until told to stop."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._loop = asyncio.get_running_loop()
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await stop.wait()
        server.close()
        self._is_away = True
        await drained(self._cut)

    async def _cut(self) -> None:
        tasks = [*self._passages]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passage = _Passage(is_dead=self._swallows)
        task = asyncio.create_task(self._pass_on(passage, (reader, writer)))
        self._passages[task] = passage
        task.add_done_callback(self._passages.pop)

    async def _pass_on(self, passage: _Passage, client: Ends) -> None:
        pumps: list[asyncio.Task[None]] = []
        server: Ends | None = None
        try:
            if self._is_away:
                return
            server = await asyncio.open_connection(*self._target)
            passage.port = server[1].get_extra_info("sockname")[1]
            for one, other in ((client, server), (server, client)):
                pumps.append(asyncio.create_task(passage.pump(one[0], other[1])))
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass  # The database is not there, and the client learns it by the closed link.
        finally:
            for pump in pumps:
                pump.cancel()
            for end in (client, server):
                if end is not None:
                    end[1].transport.abort()
            await asyncio.gather(*pumps, return_exceptions=True)


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.port is not None
    return str(parts.hostname), parts.port


@contextmanager
def endpoint_of(url: str) -> Iterator[Endpoint]:
    """Lend an endpoint of a database."""
    with in_a_thread(Endpoint(url), "endpoint") as endpoint:
        yield endpoint
