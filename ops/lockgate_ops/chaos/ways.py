"""How a client asks: over HTTP, by the runtime's own calls, or in plain SQL; each has an answer.

Whatever is no answer comes out as it is; whoever judges it knows what a killed process may do.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import httpx
import psycopg
from psycopg.types.json import Jsonb

from lockgate import StoreUnavailable
from lockgate.codes import CODES, ROUTE_CODES
from lockgate.database import Database
from lockgate.rules import entries, sessions
from lockgate_ops.chaos.agents import AGENT
from lockgate_ops.chaos.places import Place
from lockgate_ops.chaos.wishes import Wish

KEY = "X-Helix-Request-Key"
ACCEPTED = frozenset({"started", "resumed", "attached", "replayed"})
DONE_BEFORE = frozenset({"request_already_completed", "state_request_already_completed"})
LOST, NOT_WRITTEN, UNAVAILABLE = "lost", "not written", "store unavailable"
UNKNOWN = frozenset({LOST, UNAVAILABLE})
# A session's state may refuse, and so may a key; nothing else is said to these clients.
REFUSED = frozenset(
    {
        *("already_running", "not_resumable", "request_key_conflict", "session_not_found"),
        *("interrupting", NOT_WRITTEN),
    }
)
BY_HTTP = {
    "state_already_running": "already_running",
    "state_not_resumable": "not_resumable",
    "state_request_key_conflict": "request_key_conflict",
    "state_session_not_found": "session_not_found",
    "validation_error": "invalid_request",
}
UNTYPED = frozenset({"framework_internal_error", "INTERNAL_ERROR"})
SERVER_WENT = ("57P01", "57P02", "57P03")
ANSWERED_WITHIN_S = 12.0  # a frozen server says nothing; another one may be asked then
KEPT_FOR_S = 2.0
NOTED_WITHIN_S = 0.3  # a process's death is seen by its place within this


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client was told.

    label   an outcome; `not written` and `store unavailable` are typed weather, `lost` is a link
            that ended, or that said nothing in time
    run_id  the run that it names, if any
    raw     what it was, where it is nothing that anybody may be told
    body    of a success over HTTP
    """

    label: str
    run_id: str | None = None
    raw: str | None = None
    body: Mapping[str, Any] | None = None


class Way(Protocol):
    """A client's way to the rules."""

    name: str

    async def ask(self, wish: Wish) -> Answer: ...

    async def read(self, session_id: str) -> str: ...

    async def close(self) -> None: ...


class OverHttp:
    """Asks any of the servers, each time another one; after its death, the one in its place."""

    name = "HTTP"

    def __init__(self, servers: list[Place], rng: random.Random) -> None:
        self._servers = servers
        self._rng = rng
        # Let go of before the server does: what is said over a link that it just closes is lost.
        limits = httpx.Limits(keepalive_expiry=KEPT_FOR_S)
        self._client = httpx.AsyncClient(timeout=ANSWERED_WITHIN_S, trust_env=False, limits=limits)

    async def ask(self, wish: Wish) -> Answer:
        """Post an entry."""
        headers = {} if wish.key is None else {KEY: wish.key}
        body = {"agentType": AGENT, **wish.given}
        return await self.post(wish.session_id, wish.verb, body, headers)

    async def post(
        self, session_id: str, verb: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Post whatever a route takes."""
        answer = await self._send("POST", session_id, verb, json=body, headers=headers)
        return answer if isinstance(answer, Answer) else understood(answer)

    async def get(self, session_id: str, path: str) -> Answer:
        """Read what a route shows."""
        answer = await self._send("GET", session_id, path)
        return answer if isinstance(answer, Answer) else understood(answer)

    async def read(self, session_id: str) -> str:
        """Read where a session stands, and what it holds."""
        for path in ("status", "snapshot"):
            answer = await self.get(session_id, path)
            if answer.raw is not None:
                return f"raw: {answer.raw}"
            if answer.label in {*UNKNOWN, NOT_WRITTEN}:
                return answer.label
        return "read"

    async def close(self) -> None:
        """Let go of its links."""
        await self._client.aclose()

    async def _send(
        self, method: str, session_id: str, path: str, **more: Any
    ) -> httpx.Response | Answer:
        began = time.monotonic()
        server = self._rng.choice(self._servers)
        url = f"{server.said}/sessions/{session_id}/{path}"
        try:
            return await self._client.request(method, url, **more)
        except httpx.TimeoutException:
            return Answer(LOST)
        except httpx.TransportError as error:
            await asyncio.sleep(NOTED_WITHIN_S)
            is_excused = server.was_disturbed(since=began)
            return Answer(LOST, raw=_unless(is_excused, f"{error!r} of a server that lives"))


def understood(answer: httpx.Response) -> Answer:
    """Read an answer over HTTP; what has no known code, or none that goes with its number, is raw.

    Of a failure that is ours a client is told whether it may ask again, and never only that it is.
    """
    try:
        told = answer.json()
    except ValueError:
        return Answer("no JSON", raw=f"{answer.status_code} {answer.text}")
    if answer.status_code in (200, 201):
        run_id = told.get("runId")
        return Answer(str(told.get("status")), run_id, body=told)
    code, whole = told.get("code"), f"{answer.status_code} {answer.text}"
    if code == "framework_store_unavailable":
        label = NOT_WRITTEN if told["retryable"] else UNAVAILABLE
        return Answer(label, raw=_unless(answer.status_code in (500, 503), whole))
    is_typed = code in {*CODES, *ROUTE_CODES} and code not in UNTYPED
    is_fine = is_typed and answer.status_code in (400, 404, 409)
    return Answer(BY_HTTP.get(code, str(code)), told.get("runId"), _unless(is_fine, whole))


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
                return UNAVAILABLE
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
                return f"raw: {rows.raw}" if rows.raw else rows.label
        return "read"

    async def close(self) -> None:
        """Let go of its link."""
        if self._link is not None:
            await self._link.close()

    async def _rows(self, query: str, given: dict[str, Any]) -> list[Any] | Answer:
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
            return Answer(LOST if said else NOT_WRITTEN, raw=raw)


def parameters(wish: Wish) -> dict[str, Any]:
    """Return what a rule is given, by its parameters' names in SQL without their `p_`."""
    given = {
        "checkpoint_id" if name == "checkpointId" else name: value
        for name, value in wish.given.items()
    }
    if "message" in given:  # A text is JSON, too.
        given["message"] = json.dumps(given["message"])
    given |= {"session_id": wish.session_id, "agent_type": AGENT}
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
        return Answer(UNAVAILABLE if gone.committed is None else NOT_WRITTEN)
    label = f"{answer.outcome} {answer.cause or ''}".strip()
    return Answer(label, str(answer.run_id) if answer.run_id else None)


def _unless(is_fine: bool, what: str) -> str | None:
    return None if is_fine else what
