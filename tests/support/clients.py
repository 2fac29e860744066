"""Clients of a server process: requests as an application makes them, and streams read live."""

import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from httpx_sse import connect_sse

from tests.support.scene import Turn, said, visible
from tests.support.seen import WITHIN_S, seen
from tests.support.stage_agents import SCRIPTED

Result = TypeVar("Result")

KEY = "X-Helix-Request-Key"
ALL_WITHIN_S = 3 * WITHIN_S  # of answers that are asked for at once
TERMINAL = ("end", "fail", "truncated", "rewound")


@dataclass(frozen=True)
class Event:
    """One server-sent event; `id` is the last one seen, as a browser keeps it."""

    name: str
    data: Any
    id: str

    @property
    def sequence(self) -> int:
        return int(self.data["sequence"])

    @property
    def chunk(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.data["chunk"]
        return found


class Client:
    """A client of one server."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = httpx.Client(
            base_url=address,
            timeout=WITHIN_S,
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=200),
        )

    def start(
        self,
        session_id: str,
        *turns: Turn | str,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        state: Any = None,
        **body: Any,
    ) -> httpx.Response:
        """Start a run of a script, or of one plain text."""
        given = (
            {"message": said(*turns)}
            if state is None
            else {"message": said(*turns), "state": state}
        )
        return self.http.post(
            f"/sessions/{session_id}/start",
            json={"agentType": SCRIPTED, "input": given, **body},
            headers={**({} if key is None else {KEY: key}), **(headers or {})},
        )

    def started(self, session_id: str, *turns: Turn | str, **more: Any) -> dict[str, Any]:
        """Start a run, and hold that it was taken."""
        answer = self.start(session_id, *turns, **more)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def submit(self, session_id: str, call: Mapping[str, Any], **answer: Any) -> httpx.Response:
        """Answer a pending call, as the snapshot shows it: {result}, {error} or {approved}."""
        kind = "approval-response" if "approved" in answer else "client-tool-result"
        if "approved" in answer:
            answer = {"approvalId": call["approvalId"], **answer}
        return self.http.post(
            f"/sessions/{session_id}/submit-tool-result",
            json={"kind": kind, "toolCallId": call["toolCallId"], **answer},
        )

    def stop(
        self, verb: str, session_id: str, *, run_id: str | None = None, wait: bool = False
    ) -> httpx.Response:
        """Interrupt or abort a run."""
        return self.http.post(
            f"/sessions/{session_id}/{verb}",
            json={} if run_id is None else {"runId": run_id},
            params={"wait": "true"} if wait else {},
        )

    def pending(self, session_id: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many calls wait for an answer, and return them."""
        return seen(
            lambda: found if len(found := self.snapshot(session_id)["pending"]) == count else [],
            f"{count} pending in {session_id}",
        )

    def status(self, session_id: str) -> dict[str, Any]:
        body: dict[str, Any] = self.http.get(f"/sessions/{session_id}/status").json()
        return body

    def snapshot(self, session_id: str) -> dict[str, Any]:
        body: dict[str, Any] = self.http.get(f"/sessions/{session_id}/snapshot").json()
        return body

    def settled(self, session_id: str) -> dict[str, Any]:
        """Wait until nothing executes in a session, and return its status.

        A server that cannot say for the moment is asked again.
        """
        return seen(lambda: self._settled(session_id), f"{session_id} has settled")

    def _settled(self, session_id: str) -> dict[str, Any]:
        found = self.status(session_id)
        return {} if found.get("status", "active") == "active" else found

    def bytes(self, session_id: str) -> bytes:
        """Return the whole body of an idle session's stream."""
        return self.http.get(f"/sessions/{session_id}/sse").content

    def events(
        self, session_id: str, *, after: int | None = None, last_id: str | None = None
    ) -> Generator[Event, None, None]:
        """Read a stream as it comes, to the end of its body."""
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        params = {} if after is None else {"fromSequence": str(after)}
        path = f"/sessions/{session_id}/sse"
        with connect_sse(self.http, "GET", path, headers=headers, params=params) as source:
            assert source.response.status_code == 200, source.response.read()
            for event in source.iter_sse():
                if event.data:  # A comment ends in an empty event, once there was an id.
                    yield Event(event.event, json.loads(event.data), event.id)

    def close(self) -> None:
        self.http.close()


class Reader:
    """A client that reads a stream in the background, until its body ends."""

    def __init__(self, client: Client, session_id: str, **cursor: Any) -> None:
        self.client = client
        self.session_id = session_id
        self.events: list[Event] = []
        self.broke = False
        self._thread = threading.Thread(target=self._read, args=[client, session_id, cursor])
        self._thread.start()

    def seen(self, count: int = 1, name: str = "chunk") -> list[Event]:
        """Wait until so many events of a name have come."""
        return seen(
            lambda: found if len(found := self.named(name)) >= count else [], f"{count} of {name}"
        )

    def named(self, name: str) -> list[Event]:
        return [event for event in [*self.events] if event.name == name]

    def ended(self, within_s: float = WITHIN_S) -> list[Event]:
        """Wait until the body has ended, and return all that has come."""
        self._thread.join(within_s)
        assert not self._thread.is_alive(), "the stream does not end"
        return self.events

    def _read(self, client: Client, session_id: str, cursor: Any) -> None:
        try:
            for event in client.events(session_id, **cursor):
                self.events.append(event)
        except (httpx.RemoteProtocolError, httpx.ReadError):
            self.broke = True


def terminal(events: Sequence[Event]) -> list[Event]:
    """Return the events that end a response."""
    return [event for event in events if event.name in TERMINAL]


def text_of(events: Sequence[Event]) -> str:
    """Return the text that a reader of one run is left with."""
    chunks = visible([event.data for event in events if event.name == "chunk"])
    spoken = (each["chunk"] for each in chunks if each["chunk"]["type"] == "text_delta")
    return "".join(chunk["delta"] for chunk in spoken)


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Make all calls at the same moment, and return their answers."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        gate.wait(WITHIN_S)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        answers = [threads.submit(run, each) for each in calls]
        return [answer.result(ALL_WITHIN_S) for answer in answers]


@contextmanager
def clients_of(*addresses: str) -> Iterator[list[Client]]:
    """Lend a client of each server."""
    clients = [Client(address) for address in addresses]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()
