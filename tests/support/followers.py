"""Many readers of many streams, each of which comes back with the last id it has seen.

They run on one loop in a thread of their own, and speak just enough HTTP for it: five hundred of
them are to leave the machine to the servers.
"""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

ENDS = ("end", "fail", "rewound")
AGAIN_S = 0.05  # before a reader whose server has gone asks the next one
READ_BOUND_S = 60.0  # far above the time between two keep-alives


@dataclass
class Follower:
    """One reader: what it has seen of its session's stream, over however many connections."""

    session_id: str
    chunks: list[dict[str, Any]] = field(default_factory=list)
    end: tuple[str, Any] | None = None
    connections: int = 0
    last_id: str = ""

    async def follow(self, addresses: Sequence[str], place: int) -> None:
        """Read to the terminal event; `addresses` changes while servers come and go."""
        while self.end is None:
            address = addresses[(place + self.connections) % len(addresses)]
            self.connections += 1
            try:
                await self._read(address)
            except OSError:
                await asyncio.sleep(AGAIN_S)

    async def _read(self, address: str) -> None:
        where = urlsplit(address)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            asked = f"Last-Event-ID: {self.last_id}\r\n" if self.last_id else ""
            # HTTP/1.0: the body comes as it is, and ends with the connection.
            writer.write(f"GET /sessions/{self.session_id}/sse HTTP/1.0\r\n{asked}\r\n".encode())
            name, last_id = "", ""
            while line := await asyncio.wait_for(reader.readline(), READ_BOUND_S):
                what, _, value = line.decode().rstrip("\r\n").partition(": ")
                if what == "event":
                    name = value
                elif what == "id":
                    last_id = value
                elif what == "data":
                    self._take(name, json.loads(value), last_id)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _take(self, name: str, data: Any, last_id: str) -> None:
        self.last_id = last_id or self.last_id
        if name == "chunk":
            self.chunks.append(data)
        elif name in ENDS and not data.get("recoverable"):  # else only this response has ended
            self.end = (name, data)


@contextmanager
def following(names: Sequence[str], addresses: Sequence[str]) -> Iterator[list[Follower]]:
    """Follow each session's stream while the block lasts."""
    followers = [Follower(name) for name in names]
    loop = asyncio.new_event_loop()

    async def follow_all() -> None:
        reads = [each.follow(addresses, place) for place, each in enumerate(followers)]
        await asyncio.gather(*reads)

    def run() -> None:
        asyncio.set_event_loop(loop)
        task = loop.create_task(follow_all())
        task.add_done_callback(lambda _: loop.stop())
        loop.call_soon(started.append, task)
        loop.run_forever()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()

    started: list[asyncio.Task[None]] = []
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield followers
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(lambda: started[0].cancel())
        thread.join()
