"""The application as a test drives it: without a network, on an event loop of its own."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from litestar import Litestar

from lockgate import Agent, Runtime, define_agent
from lockgate.models.offline import OfflineModel
from tests.support.door import AGENT

Result = TypeVar("Result")

WAIT_S = 10.0  # nothing that a test waits for takes so long
LOOK_EVERY_S = 0.01


def agent(name: str = AGENT) -> Agent:
    """Define an agent that nobody will drive: these tests have no worker."""
    return define_agent(name, model=OfflineModel())


class Api:
    """An application and its runtime, called one request at a time."""

    def __init__(self, runner: asyncio.Runner, runtime: Runtime, app: Litestar) -> None:
        self.runtime = runtime
        self.app = app
        self._runner = runner
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://lockgate"
        )

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run something on the application's loop, for a bounded time."""
        return self._runner.run(asyncio.wait_for(coroutine, WAIT_S))

    def close(self) -> None:
        """Close it and its runtime."""
        self.run(self._client.aclose())
        self.run(self.runtime.close())

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.run(self._client.get(path, **more))

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self.run(self._client.request(method, path, **more))

    def post(self, path: str, body: object = None, **more: Any) -> httpx.Response:
        """Post a value as JSON, or bytes as they are."""
        return self.run(self.apost(path, body, **more))

    async def apost(self, path: str, body: object = None, **more: Any) -> httpx.Response:
        """Post, within a test's own coroutine."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self._client.post(path, content=content, **more)

    def start(self, session_id: str = "s1", say: object = "hi", **more: Any) -> httpx.Response:
        """Start a run; see `astart`."""
        return self.run(self.astart(session_id, say, **more))

    async def astart(
        self,
        session_id: str = "s1",
        say: object = "hi",
        *,
        key: str | None = None,
        state: object = None,
        headers: Mapping[str, str] | None = None,
        **body: object,
    ) -> httpx.Response:
        """Start a run with a message; fields in `body` are added to the request's."""
        given = {"message": say} if state is None else {"message": say, "state": state}
        keyed = {} if key is None else {"X-Helix-Request-Key": key}
        return await self.apost(
            f"/sessions/{session_id}/start",
            {"agentType": AGENT, "input": given, **body},
            headers={**keyed, **(headers or {})},
        )

    def events(self, session_id: str = "s1", **more: Any) -> list["Event"]:
        """Read the whole stream of a session that stands idle."""
        answer = self.get(f"/sessions/{session_id}/sse", **more)
        assert answer.status_code == 200, answer.text
        return parsed(answer.content)

    @asynccontextmanager
    async def live(self, path: str, **headers: str) -> AsyncIterator["Live"]:
        """Open a stream that stays open."""
        live = Live(headers)
        task = asyncio.create_task(self.app(live.scope(path), live.receive, live.send))  # type: ignore[arg-type]
        try:
            yield live
        finally:
            live.leave()
            await asyncio.wait_for(task, WAIT_S)


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


async def until(seen: Callable[[], Any] | Callable[[], Awaitable[Any]]) -> Any:
    """Wait until something is seen, for a bounded time; give the loop its turns meanwhile."""
    async with asyncio.timeout(WAIT_S):
        while True:
            found = seen()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(LOOK_EVERY_S)


async def left_tasks() -> set[asyncio.Task[Any]]:
    """Return the tasks that a test has left behind."""
    await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


@dataclass
class Gate:
    """A place where a test holds a call until it has seen enough."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def passed(self) -> None:
        self.reached.set()
        await self.opened.wait()
