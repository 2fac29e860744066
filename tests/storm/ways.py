"""How a client asks: over HTTP, by the runtime's own calls, or in plain SQL; each has an answer.

Whatever is no answer comes out as it is; whoever judges it knows what a killed process may do.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import httpx
import psycopg
from psycopg.types.json import Jsonb

from lockgate import StoreUnavailable
from lockgate.database import Database
from lockgate.rules import entries, sessions
from tests.storm.servers import Server
from tests.storm.wishes import Wish
from tests.support.clients import KEY
from tests.support.stage_agents import SCRIPTED

ACCEPTED = {"started", "resumed", "attached", "replayed"}
DONE_BEFORE = {"request_already_completed", "state_request_already_completed"}
UNKNOWN = {"lost", "store unavailable"}
# A session's state may refuse, and so may a key; nothing else is said to these clients.
REFUSED = {
    *("already_running", "not_resumable", "request_key_conflict", "session_not_found"),
    *("interrupting", "not written"),
}
BY_HTTP = {
    "state_already_running": "already_running",
    "state_not_resumable": "not_resumable",
    "state_request_key_conflict": "request_key_conflict",
    "state_session_not_found": "session_not_found",
    "validation_error": "invalid_request",
}
SERVER_WENT = ("57P01", "57P02", "57P03")


@dataclass(frozen=True)
class Answer:
    """What a client was told.

    label   an outcome; `not written` and `store unavailable` are typed weather, `lost` is a link
            that ended
    run_id  the run that it names, if any
    """

    label: str
    run_id: str | None = None
    raw: str | None = None


class Way(Protocol):
    """A client's way to the rules."""

    name: str

    async def ask(self, wish: Wish) -> Answer: ...

    async def read(self, session_id: str) -> str: ...

    async def close(self) -> None: ...


class OverHttp:
    """Asks a server; after its death, the one that came in its place."""

    name = "HTTP"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._client = httpx.AsyncClient(timeout=60)

    async def ask(self, wish: Wish) -> Answer:
        """Post an entry."""
        headers = {} if wish.key is None else {KEY: wish.key}
        body = {"agentType": SCRIPTED, **wish.given}
        answer = await self._send("POST", wish.session_id, wish.verb, json=body, headers=headers)
        if isinstance(answer, Answer):
            return answer
        told = answer.json()
        if answer.status_code == 200:
            return Answer(told["status"], told["runId"])
        if told["code"] == "framework_store_unavailable":
            written = "not written" if told["retryable"] else "store unavailable"
            return Answer(written, raw=_unless(answer.status_code in (500, 503), answer.text))
        label = BY_HTTP.get(told["code"], told["code"])
        return Answer(
            label, told.get("runId"), _unless(answer.status_code in (400, 409), answer.text)
        )

    async def read(self, session_id: str) -> str:
        """Read where a session stands, and what it holds."""
        for path in ("status", "snapshot"):
            answer = await self._send("GET", session_id, path)
            if isinstance(answer, Answer):
                return answer.raw or answer.label
            if answer.status_code not in (200, 404, 503) and "store_unavailable" not in answer.text:
                return f"raw: {answer.status_code} {answer.text}"
        return "read"

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(
        self, method: str, session_id: str, path: str, **more: Any
    ) -> "httpx.Response | Answer":
        began = time.monotonic()
        url = f"{self._server.address}/sessions/{session_id}/{path}"
        try:
            return await self._client.request(method, url, **more)
        except httpx.TransportError as error:
            await asyncio.sleep(0.1)  # The server's death is noted by now.
            is_excused = self._server.was_down(since=began)
            return Answer("lost", raw=_unless(is_excused, f"{error!r} of a server that lives"))


class ByRuntime:
    """Calls the rules as the runtime does: weather is typed, and tried again."""

    name = "SQL, by the runtime"

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, wish: Wish) -> Answer:
        """Call an entry's rule."""
        rule = getattr(entries, wish.verb)
        given = {
            name: value if isinstance(value, str | UUID) else json.dumps(value)
            for name, value in parameters(wish).items()
        }
        return await _told(lambda: self._database.call(rule, **given))

    async def read(self, session_id: str) -> str:
        """Read where a session stands, and what it holds."""
        for rule in (sessions.status, sessions.snapshot):
            try:
                await self._database.call(rule, session_id=session_id)
            except StoreUnavailable:
                return "store unavailable"
        return "read"

    async def close(self) -> None:
        """The database is shared, and closed by who opened it."""


class InPlainSql:
    """Calls the rules as any language does, over a connection of its own."""

    name = "SQL, plain"

    def __init__(self, url: str) -> None:
        self._url = url
        self._link: psycopg.AsyncConnection[Any] | None = None

    async def ask(self, wish: Wish) -> Answer:
        """Call an entry's rule."""
        given = {
            name: Jsonb(value) if isinstance(value, dict) else value
            for name, value in parameters(wish).items()
        }
        named = ", ".join(f"p_{name} => %({name})s" for name in given)
        query = f"select outcome::text, run_id, cause from lockgate.{wish.verb}({named})"
        rows = await self._rows(query, given)
        if isinstance(rows, Answer):
            return rows
        ((outcome, run_id, cause),) = rows
        return Answer(f"{outcome} {cause or ''}".strip(), str(run_id) if run_id else None)

    async def read(self, session_id: str) -> str:
        """Read where a session stands, and what it holds."""
        for function in ("status", "snapshot"):
            query = f"select session_id from lockgate.{function}(p_session_id => %(session_id)s)"
            rows = await self._rows(query, {"session_id": session_id})
            if isinstance(rows, Answer):
                return rows.raw or rows.label
        return "read"

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()

    async def _rows(self, query: str, given: dict[str, Any]) -> "list[Any] | Answer":
        said = False
        try:
            if self._link is None or self._link.closed:
                self._link = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, prepare_threshold=None
                )
            said = True
            cursor = await self._link.execute(query.encode(), given)
            return await cursor.fetchall()
        except psycopg.Error as error:
            is_link = isinstance(error, psycopg.OperationalError) and (
                error.sqlstate is None or error.sqlstate in SERVER_WENT
            )
            raw = _unless(is_link, f"{error.sqlstate}: {error}")
            return Answer("lost" if said else "not written", raw=raw)


def parameters(wish: Wish) -> dict[str, Any]:
    """Return what a rule is given, by its parameters' names in SQL without their `p_`."""
    given = {
        "checkpoint_id" if name == "checkpointId" else name: value
        for name, value in wish.given.items()
    }
    if "message" in given:  # A text is JSON, too.
        given["message"] = json.dumps(given["message"])
    given |= {"session_id": wish.session_id, "agent_type": SCRIPTED}
    if wish.key is not None:
        given["request_key"] = wish.key
    if wish.run_id is not None:
        given["run_id"] = wish.run_id
    if wish.interrupts:
        given["concurrent_entry"] = "interrupt_previous"
    return given


async def _told(call: Callable[[], Any]) -> Answer:
    try:
        answer = await call()
    except StoreUnavailable as gone:
        return Answer("store unavailable" if gone.committed is None else "not written")
    label = f"{answer.outcome} {answer.cause or ''}".strip()
    return Answer(label, str(answer.run_id) if answer.run_id else None)


def _unless(is_fine: bool, what: str) -> str | None:
    return None if is_fine else what
