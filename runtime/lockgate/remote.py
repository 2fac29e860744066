"""Where a child lives: what its parent asks of that place, and a place that is reached over HTTP.

A refusal is an error here, in the words of the remote protocol, whichever place it comes from. What
a tool makes of it is in `companions.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from lockgate.errors import EntryRefused, error_detail, scrub_detail
from lockgate.requests import Start, UserInput
from lockgate.scrub import scrub
from lockgate.strict_json import BadJson, dumps, loads_body

# Longer than a child waits for a run that it interrupts: such a one says by itself that it is busy.
CHILD_RESUME_TIMEOUT_S = 60.0

# A session's status and a run's say the same of a child in other words.
_STANDS = {
    "active": "running",
    "suspended_client_tool": "paused",
    "suspended_awaiting_children": "paused",
    "suspended_step_partial": "paused",
}
UNDER_WAY = ("running", "paused")
IDLE = ("completed", "failed", "interrupted")


class ChildBusy(EntryRefused):
    """The child executes a run, and takes nothing else now."""

    def __init__(self) -> None:
        super().__init__("ALREADY_RUNNING")


class ChildUnconfirmed(EntryRefused):
    """Nobody knows whether the child has taken it: its host gave no answer that could be read."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__("transport_error", retryable=False, cause=cause)


class RemoteProtocolValidationError(EntryRefused):
    """RemoteProtocolValidationError: the answer of a child's host is none of the protocol."""

    def __init__(self) -> None:
        super().__init__("transport_error", retryable=False, cause=type(self).__name__)


@dataclass(frozen=True, slots=True)
class ChildAddress:
    """Which child is meant; the id is the session's, at the place where the child lives."""

    session_id: str
    agent_type: str


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """How a child stands: running, paused, completed, failed or interrupted."""

    status: str
    output: Any = None
    error_detail: Mapping[str, Any] | None = None

    @property
    def is_idle(self) -> bool:
        """Say whether a message is a start on it, and not a resume."""
        return self.status in IDLE


class ChildHost(Protocol):
    """A place where children live.

    start, resume  return the id of the run that has taken the message. Errors  ChildBusy;
                   ChildUnconfirmed; RemoteProtocolValidationError; EntryRefused with the code and
                   cause of the refusal
    status         Errors  EntryRefused NOT_FOUND for no such child; ChildUnconfirmed; as start
    abort          says whether a run was there to be ended. Errors  as status
    """

    async def start(self, request: Start) -> str: ...
    async def resume(self, child: ChildAddress, message: UserInput) -> str: ...
    async def status(self, child: ChildAddress) -> ChildStatus: ...
    async def abort(self, child: ChildAddress) -> bool: ...


class RemoteChildren:
    """Children on another host, by the remote protocol under `{base}/sessions/{id}/subagent`."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_s: float = CHILD_RESUME_TIMEOUT_S,
    ) -> None:
        """headers  sent with each request: who is asking"""
        self.base_url = base_url.rstrip("/")
        self._headers = dict(headers or {})
        self._transport = transport
        self._timeout_s = timeout_s

    async def start(self, request: Start) -> str:
        """Start a child, or an idle child's next run; identity goes with it."""
        child = ChildAddress(request.session_id, request.agent_type)
        identity = {
            "metadata": request.metadata,
            "userId": request.user_id,
            "tags": None if request.tags is None else list(request.tags),
            "parentSessionId": request.parent_session_id,
            "rootSessionId": request.root_session_id,
        }
        given = {name: value for name, value in identity.items() if value is not None}
        body = {"sessionId": child.session_id, "agentType": child.agent_type, **request.input()}
        return _run_of(await self._ask("POST", child, "start", {**body, **given}))

    async def resume(self, child: ChildAddress, message: UserInput) -> str:
        """Send a message to a child that is not idle."""
        body = {"sessionId": child.session_id, "message": message}
        return _run_of(await self._ask("POST", child, "resume", body))

    async def status(self, child: ChildAddress) -> ChildStatus:
        """Ask how a child stands."""
        answer = await self._ask("GET", child, "status")
        status = answer.get("status") if isinstance(answer, Mapping) else None
        if not isinstance(status, str) or standing(status) not in (*UNDER_WAY, *IDLE):
            raise RemoteProtocolValidationError
        told = answer.get("errorDetail")
        if not isinstance(told, Mapping):
            told = {"message": answer["error"]} if isinstance(answer.get("error"), str) else None
        detail = None if told is None else scrub_detail(told)
        return ChildStatus(standing(status), answer.get("output"), detail)

    async def abort(self, child: ChildAddress) -> bool:
        """Ask a child's run to end."""
        answer = await self._ask("POST", child, "abort", {"sessionId": child.session_id})
        return not isinstance(answer, Mapping) or answer.get("status") != "not_running"

    async def _ask(
        self, method: str, child: ChildAddress, verb: str, body: Mapping[str, Any] | None = None
    ) -> Any:
        """Send one request, and return a 2xx answer's body; one that is no JSON is None."""
        session, agent = quote(child.session_id, safe=""), quote(child.agent_type, safe="")
        url = f"{self.base_url}/sessions/{session}/subagent/{agent}/{verb}"
        headers = {**self._headers, "content-type": "application/json"}
        content = None if body is None else dumps(body).encode()
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                httpx.AsyncClient(transport=self._transport, timeout=None) as client,
            ):
                answer = await client.request(method, url, headers=headers, content=content)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise ChildUnconfirmed(error) from error
        found = _json(answer.content)
        if answer.is_success:
            return found
        raise _refusal(answer.status_code, found)


def standing(status: str) -> str:
    """Return how a child stands, from a session's status or a run's."""
    return _STANDS.get(status, status)


def _json(content: bytes) -> Any:
    try:
        return loads_body(content)
    except BadJson:
        return None


def _run_of(answer: Any) -> str:
    """Read a RemoteStartResponse, and return its run."""
    named = ("sessionId", "streamId", "runId")
    if isinstance(answer, Mapping) and all(isinstance(answer.get(name), str) for name in named):
        return str(answer["runId"])
    raise RemoteProtocolValidationError


def _refusal(status: int, found: Any) -> EntryRefused:
    """Make a host's refusal ours: its code and cause, worth a retry exactly on a 503."""
    body: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    told = {name: scrub(value) for name, value in body.items() if isinstance(value, str)}
    if status == 409 and told.get("code") == "ALREADY_RUNNING":
        return ChildBusy()
    return EntryRefused(
        told.get("errorCode") or told.get("code") or "transport_error",
        told.get("error") or f"The child's host answered {status}",
        retryable=status == 503,
        cause=told.get("cause"),
        run_id=told.get("runId"),
    )


def lost(reason: str) -> dict[str, Any]:
    """Return the error detail of a child that cannot be read any more."""
    refused = EntryRefused("framework_subagent_lost", "The child is lost", cause=reason)
    return error_detail(refused)
