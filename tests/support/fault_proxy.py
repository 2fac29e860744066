"""A link between a process and Postgres that breaks where a test says: it knows what was asked.

It passes bytes on, and compares what the client says with the faults that are armed. A fault takes
effect once, on the connection that said so, and is seen by the test.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from tests.support.seen import WITHIN_S
from tests.support.served import drained, in_a_thread

What: TypeAlias = Literal["cut", "drop", "refuse", "hold", "see", "black_hole"]
READY_FOR_QUERY = b"Z\x00\x00\x00\x05"  # and a byte that tells of the transaction
IDLE, BROKEN = b"I", b"E"
COMMIT = b"COMMIT"
ROLLBACK = b"Q\x00\x00\x00\x0dROLLBACK\x00"
SIZE = 1 << 16


@dataclass
class Said:
    """What one connection has said: in its open transaction, and how far into each fault."""

    transaction: bytes = b""
    places: dict[int, int] = field(default_factory=dict)


@dataclass
class Fault:
    """What a client says, part by part, and what then becomes of the link.

    cut         the statement is carried out, and the link is cut before its answer
    drop        the link is cut before the statement is passed on
    refuse      the client is told `sqlstate` in the server's name, who hears nothing
    hold        the answer is held until `release`
    see         nothing breaks: the test only learns that it was said
    black_hole  nothing passes any more, either way, and nobody is told
    """

    what: What
    said: tuple[bytes, ...] = ()
    sqlstate: str = ""
    lasts: bool = False  # it takes effect each time from then on
    hits: int = 0
    hit: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def seen(self) -> None:
        """Wait until it has taken effect: for a cut, until the statement was carried out."""
        assert self.hit.wait(WITHIN_S), f"nobody said {self.said}"

    def release(self) -> None:
        """Let the held answer go."""
        self.released.set()

    def is_met(self, data: bytes, said: Said) -> bool:
        """Say whether a connection that now says `data` has said it all."""
        place = said.places.get(id(self), 0)
        while place < len(self.said) and self.said[place] in data:
            place += 1
        said.places[id(self)] = place
        return place == len(self.said)


FaultOfAKind = TypeVar("FaultOfAKind", bound=Fault)


class Proxy:
    """One address in front of a database."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        self._target = (str(parts.hostname), parts.port)
        self._parts = parts
        self._port = 0
        self._armed: list[Fault] = []
        self._links: set[asyncio.Task[None]] = set()
        self._is_away = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """The database's URL that leads through here."""
        credentials, _, _ = self._parts.netloc.rpartition("@")
        return self._parts._replace(netloc=f"{credentials}@127.0.0.1:{self._port}").geturl()

    def arm(self, what: What, *said: bytes) -> Fault:
        """Make the next client that says so meet a fault."""
        return self.put(Fault(what, said))

    def put(self, fault: FaultOfAKind) -> FaultOfAKind:
        """Arm a fault of one's own making."""
        self._armed.append(fault)
        return fault

    def lift(self, fault: Fault) -> None:
        """Let a fault that lasts, or that nobody has met, break nothing more."""
        if fault in self._armed:
            self._armed.remove(fault)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Cut every link and take no other, for as long as the block lasts."""
        assert self._loop is not None
        self._is_away = True
        asyncio.run_coroutine_threadsafe(self._cut_all(), self._loop).result(WITHIN_S)
        try:
            yield
        finally:
            self._is_away = False

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        """Pass on until told to stop."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._loop = asyncio.get_running_loop()
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await stop.wait()
        server.close()
        self._is_away = True
        await drained(self._cut_all)

    async def _cut_all(self) -> None:
        for link in [*self._links]:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own: asyncio complains of one that it made and that we cancel.
        link = asyncio.create_task(self._link(reader, writer))
        self._links.add(link)
        link.add_done_callback(self._links.discard)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not self._is_away:
                there = await asyncio.open_connection(*self._target)
                await _Link(self, (reader, writer), there).run()
        except OSError:
            pass  # The database is not there, and the client learns it by the closed link.
        finally:
            writer.transport.abort()

    def takes(self, fault: Fault) -> bool:
        """Give a fault to the connection that met it; another may have been first."""
        if fault not in self._armed:
            return False
        if not fault.lasts:
            self._armed.remove(fault)
        fault.hits += 1
        return True

    @property
    def armed(self) -> list[Fault]:
        """The faults that nobody has met yet."""
        return [*self._armed]


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: Ends, server: Ends) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._said = Said()
        self._state = IDLE
        self._tail = b""
        self._fault: Fault | None = None
        self._heard = b""

    async def run(self) -> None:
        """Pass on until one side closes or a fault cuts."""
        pumps = [asyncio.create_task(self._up()), asyncio.create_task(self._down())]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            self._server[1].transport.abort()
            self._client[1].transport.abort()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _up(self) -> None:
        while data := await self._client[0].read(SIZE):
            fault = self._met(data)
            if fault is not None:
                if fault.what in ("drop", "refuse", "see", "black_hole"):
                    fault.hit.set()
                if fault.what == "drop":
                    return
                if fault.what == "refuse" and COMMIT not in data:
                    self._client[1].write(_refusal(fault.sqlstate, self._state))
                    continue
                if fault.what == "refuse":
                    data = ROLLBACK  # as a server that refuses a commit has done
                if fault.what != "see":
                    self._fault = fault
            if self._fault is None or self._fault.what != "black_hole":
                self._server[1].write(data)
                await self._server[1].drain()

    async def _down(self) -> None:
        while data := await self._server[0].read(SIZE):
            fault = self._fault
            if fault is not None and fault.what == "black_hole":
                continue
            self._learn(data)
            if fault is not None and await self._breaks(fault, data):
                return
            if fault is None or fault.what == "hold":
                self._client[1].write(data)
                await self._client[1].drain()

    async def _breaks(self, fault: Fault, data: bytes) -> bool:
        """Do what the fault says with an answer; whether the link ends with it."""
        if fault.what == "hold":
            fault.hit.set()
            while not fault.released.is_set():
                await asyncio.sleep(0.005)
            self._fault = None
            return False
        self._heard += data
        if READY_FOR_QUERY not in self._heard:
            return False
        if fault.what == "refuse":
            self._client[1].write(_refusal(fault.sqlstate, IDLE))
            self._fault, self._heard = None, b""
            return False
        fault.hit.set()
        return True

    def _met(self, data: bytes) -> Fault | None:
        self._said.transaction += data
        for fault in self._proxy.armed:
            if fault.is_met(data, self._said) and self._proxy.takes(fault):
                return fault
        return None

    def _learn(self, data: bytes) -> None:
        """Follow what the server says of the transaction."""
        self._tail = (self._tail + data)[-len(READY_FOR_QUERY) - 1 :]
        if self._tail.startswith(READY_FOR_QUERY):
            self._state = self._tail[-1:]
            if self._state == IDLE:
                self._said.transaction = b""


def _refusal(sqlstate: str, state: bytes) -> bytes:
    """Write an error as the server does, and that it is ready for what comes next."""
    fields = (b"SERROR", b"VERROR", b"C" + sqlstate.encode(), b"MThe test refuses this.", b"")
    body = b"".join(each + b"\0" for each in fields)
    after = READY_FOR_QUERY + (IDLE if state == IDLE else BROKEN)
    return b"E" + (len(body) + 4).to_bytes(4, "big") + body + after


@contextmanager
def proxy_to(url: str) -> Iterator[Proxy]:
    """Lend a proxy to a database."""
    with in_a_thread(Proxy(url), "fault-proxy") as proxy:
        yield proxy
