"""A client of server-sent events: it reads frames as they come, parses them, and may leave."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

WAIT_S = 10.0  # nothing that a test waits for takes so long


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    name: str
    data: Any
    id: str | None


class Live:
    """A client of one open stream, which reads its frames as they come, and may leave."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.status = 0
        self.answered = asyncio.Event()
        self.is_complete = False
        self.response_headers: dict[bytes, bytes] = {}
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._left = asyncio.Event()
        self._asked = False

    def scope(self, path: str) -> dict[str, Any]:
        path, _, query = path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (b"host", b"lockgate"),
                *((name.encode(), value.encode()) for name, value in self.headers.items()),
            ],
            "client": ("127.0.0.1", 1),
            "server": ("lockgate", 80),
        }

    async def receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.response_headers = dict(message["headers"])
            self.answered.set()
            return
        if message["body"]:
            self._frames.put_nowait(message["body"])
        if not message.get("more_body"):
            self.is_complete = True
            self._frames.put_nowait(b"")

    def leave(self) -> None:
        """Go, as a closed tab does."""
        self._left.set()

    async def frame(self) -> bytes:
        """Return the next frame, b"" at the body's end."""
        return await asyncio.wait_for(self._frames.get(), WAIT_S)

    async def event(self) -> Event:
        """Return the next event; comments are passed over."""
        while True:
            frame = await self.frame()
            assert frame, "the body has ended"
            for event in parsed(frame):
                return event


def parsed(body: bytes, *, lines: Callable[[str], list[str]] | None = None) -> list[Event]:
    """Parse server-sent events as the standard says, or with another idea of what a line is."""
    text = body.decode()
    split = lines or (lambda all_: all_.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    found: list[Event] = []
    name, data, last_id = "message", list[str](), None
    for line in split(text):
        field_, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                found.append(Event(name, json.loads("\n".join(data)), last_id))
            name, data, last_id = "message", [], None
        elif field_ == "event":
            name = value
        elif field_ == "data":
            data.append(value)
        elif field_ == "id":
            last_id = value
    return found


def texts(events: list[Event]) -> list[str]:
    return [event.data["chunk"]["delta"] for event in events if "delta" in str(event.data)]


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]
