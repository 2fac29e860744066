"""The application as a test drives it: without a network, on an event loop of its own."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

import httpx
from litestar import Litestar, Response

from lockgate import Agent, BeforeEntryContext, Refuse, Runtime, define_agent
from lockgate.models.offline import OfflineModel
from lockgate_api import Principal
from tests.api.live import WAIT_S, Event, Live, parsed
from tests.support.door import AGENT, Door, Drive

Result = TypeVar("Result")

LOOK_EVERY_S = 0.01
GOOD = {"agentType": AGENT, "input": {"message": "hi"}}
BODIES: dict[str, Any] = {
    "/sessions": {"agentType": AGENT},
    "/sessions/s1/start": GOOD,
    "/sessions/s1/resume": {"agentType": AGENT, "options": {"mode": "continue"}},
    "/sessions/s1/retry": {"agentType": AGENT},
    "/sessions/s1/submit-tool-result": {
        "kind": "client-tool-result",
        "toolCallId": "call-1",
        "result": None,
    },
    "/sessions/s1/interrupt": {},
    "/sessions/s1/abort": {},
}
ROUTES = [
    ("POST", "/sessions"),
    ("POST", "/sessions/s1/start"),
    ("POST", "/sessions/s1/resume"),
    ("POST", "/sessions/s1/retry"),
    ("POST", "/sessions/s1/submit-tool-result"),
    ("POST", "/sessions/s1/interrupt"),
    ("POST", "/sessions/s1/abort"),
    ("GET", "/sessions/s1/status"),
    ("GET", "/sessions/s1/snapshot"),
    ("GET", "/sessions/s1/usage"),
    ("GET", "/sessions/s1/sse"),
]


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
            transport=httpx.ASGITransport(app),  # type: ignore[arg-type]  # two names of one protocol
            base_url="http://lockgate",
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
    return asyncio.all_tasks() - {asyncio.current_task()}


@dataclass
class Gate:
    """A place where a test holds a call until it has seen enough."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def passed(self) -> None:
        self.reached.set()
        await self.opened.wait()


def call(api: Api, method: str, path: str, **more: Any) -> Any:
    body = BODIES.get(path, GOOD)
    return api.post(path, body, **more) if method == "POST" else api.get(path, **more)


def as_user(request: Any) -> Principal:
    """Authenticate by two headers: whose request it is, and of which tenant."""
    return Principal(request.headers.get("x-tenant", ""), request.headers.get("x-user"))


def error(answer: Any) -> tuple[int, str, bool]:
    body = answer.json()
    return answer.status_code, body["code"], body["retryable"]


def current(db: Door, session_id: str = "s1") -> Any:
    return db.run(db.session(session_id).current_run_id)


async def refuse(context: BeforeEntryContext) -> Refuse | None:
    if context.body["input"]["message"] == "no":
        return Refuse(Response({"quota": 0}, status_code=402, headers={"x-quota": "0"}))
    return None


def driven(api: Api, db: Door, session_id: str = "s1") -> Drive:
    return db.drive(UUID(api.start(session_id).json()["runId"]))
