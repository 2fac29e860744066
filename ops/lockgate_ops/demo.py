"""The tour: a Postgres, an API process and two workers, one of which is killed in its work.

All of it is real: requests over HTTP, replies as server-sent events, a kill -9, a payment that
waits for an approval. It leaves nothing behind, and says so when something went another way than
it should.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import httpx
import psycopg

from lockgate_ops.children import Child, Children
from lockgate_ops.demo_screen import Screen
from lockgate_ops.demo_watch import STEPS, KilledRun, Ledger, require
from lockgate_ops.embedded import temporary_postgres

LEASE_MS = 2_000  # short, so that nobody waits long; not so short that a busy machine misses it
DRAIN_S = 1.0
STEP_S = 0.7  # long enough to be killed in, short enough to wait for
INTERRUPTED = 130
QUESTION = "What happens to my message if a worker dies?"
ATTEMPTS = """attempt is 1 at the start, and rises with each takeover, suspension and end
an answered run is superseded by the run that goes on with it"""
LEDGER = """select session_id, turn, agent_type, status, request_key, attempt, step_count as steps,
       round(extract(epoch from duration)::numeric, 1) as seconds
  from lockgate.run_ledger
 order by started_at"""


def demo() -> int:
    """Show the tour; returns the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    screen = Screen()
    try:
        with started(screen) as tour:
            tour.show()
    except KeyboardInterrupt:
        screen.say("\nInterrupted. Everything was stopped; nothing is left running.")
        return INTERRUPTED
    screen.say(
        f"\n{screen.seconds():.0f} seconds. Everything was stopped; nothing is left running."
    )
    screen.say("Go on with:  lockgate serve   (README.md shows how to talk to it)")
    return 0


class Tour:
    """What is shown, in its order, over an API process and two workers."""

    def __init__(
        self, screen: Screen, client: httpx.Client, ledger: Ledger, workers: dict[str, Child]
    ) -> None:
        """workers  by worker id, as it stands in the ledger's owner_id"""
        self._screen = screen
        self._client = client
        self._ledger = ledger
        self._workers = workers
        self._names = {worker: f"worker {'AB'[place]}" for place, worker in enumerate(workers)}

    def show(self) -> None:
        """Show everything."""
        first = self._first_message()
        self._same_key(first)
        self._other_input()
        self._killed_worker()
        self._approval()
        self._screen.title("6", "The ledger, by SQL")
        self._screen.note(LEDGER)
        self._screen.table(*self._ledger.read(LEDGER))
        self._screen.note(ATTEMPTS)

    def _first_message(self) -> dict[str, Any]:
        self._screen.title("1", "A message under a request key, and its reply as it comes")
        answer = self._start("tour-1", "assistant", QUESTION, key="order-4711")
        require(answer.status_code == 200, answer.text)
        started: dict[str, Any] = answer.json()
        self._screen.note(f"200  status {started['status']}, run {started['runId']}")
        for name, data in self._events(started):
            if name == "chunk" and data["chunk"]["type"] == "text_delta":
                self._screen.word(data["chunk"]["delta"])
        self._screen.end_of_words()
        return started

    def _same_key(self, first: dict[str, Any]) -> None:
        self._screen.title("2", "The same request again: its answer was lost, say")
        answer = self._start("tour-1", "assistant", QUESTION, key="order-4711")
        again: dict[str, Any] = answer.json()
        require(again.get("status") == "attached" and again["runId"] == first["runId"], answer.text)
        self._screen.note(f"200  status attached, run {again['runId']}: the same run, nothing new")

    def _other_input(self) -> None:
        self._screen.title("3", "Another message under the same key")
        answer = self._start("tour-1", "assistant", "Something else", key="order-4711")
        require(answer.status_code == 409, answer.text)
        self._screen.note(f"409  {answer.text}")

    def _killed_worker(self) -> None:
        self._screen.title("4", f"A run of {STEPS} slow steps, and its worker is killed")
        slow = {"calls": [{"tool": "slow", "args": {"seconds": STEP_S}}]}
        script = [*([slow] * STEPS), {"say": "All steps are done."}]
        started = self._start("tour-2", "scripted", f"script: {json.dumps(script)}", "job-1").json()
        self._screen.note(f"200  status {started['status']}, run {started['runId']}")
        watch = KilledRun(self._screen, self._ledger, self._workers, self._names)
        for name, data in self._events(started):
            watch.see(name, data.get("chunk", data), started["runId"])
        watch.check()

    def _approval(self) -> None:
        self._screen.title("5", "A payment that waits for an approval, which comes over HTTP")
        pay = {"calls": [{"tool": "pay", "args": {"amount": 40, "to": "Ada"}}]}
        script = f"script: {json.dumps([pay, {'say': 'It is paid.'}])}"
        started = self._start("tour-3", "scripted", script, "invoice-7").json()
        asked: dict[str, Any] = {}
        for name, data in self._events(started):
            if name == "chunk" and data["chunk"]["type"] == "tool_approval_request":
                asked = data["chunk"]
                self._screen.note(f"tool_approval_request  pay {json.dumps(asked['input'])}")
            elif name == "chunk":
                started["startSequence"] = data["sequence"]
            elif name == "end":
                self._screen.note(f"end  status {data['status']}: rows wait, and no process does")
        require(bool(asked), "no approval was asked for")
        self._answer(asked, "accepted")
        for name, data in self._events(started):
            if name == "chunk" and data["chunk"]["type"] == "tool_end":
                self._screen.note(f"tool_end  {json.dumps(data['chunk']['result'])}")
            elif name == "end":
                self._screen.note(f"end  status {data['status']}, output {data['output']!r}")
        self._answer(asked, "already_completed")

    def _answer(self, asked: dict[str, Any], status: str) -> None:
        """Approve what was asked for; `status` is what the answer must say."""
        self._screen.note('POST /sessions/tour-3/submit-tool-result   "approved": true')
        named = {name: asked[name] for name in ("toolCallId", "approvalId")}
        answer = self._client.post(
            "/sessions/tour-3/submit-tool-result",
            json={"kind": "approval-response", **named, "approved": True},
        )
        require(answer.json().get("status") == status, answer.text)
        self._screen.note(f"200  {answer.text}")

    def _start(self, session_id: str, agent_type: str, message: str, key: str) -> httpx.Response:
        self._screen.note(f"POST /sessions/{session_id}/start   X-Helix-Request-Key: {key}")
        return self._client.post(
            f"/sessions/{session_id}/start",
            json={"agentType": agent_type, "input": {"message": message}},
            headers={"X-Helix-Request-Key": key},
        )

    def _events(self, started: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a run's server-sent events, by name and data, until its stream ends."""
        path = f"/sessions/{started['sessionId']}/sse"
        name = ""
        with self._client.stream(
            "GET", path, params={"fromSequence": started["startSequence"]}
        ) as response:
            for line in response.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)
        require(name == "end", f"the stream ended with {name!r}")


@contextmanager
def started(screen: Screen) -> Iterator[Tour]:
    """Start all that the tour needs, and stop it all with the block."""
    # The longest import, while the server starts.
    threading.Thread(target=import_module, args=("dbos",), daemon=True).start()
    screen.say(
        "Lockgate, a tour. All that follows is real, on this machine, and goes away again.\n"
    )
    screen.step("a private Postgres, for this tour only")
    with temporary_postgres() as server, Children() as children:
        from lockgate_ops.install import install

        screen.step("lockgate install")
        install(server.url)
        screen.step("lockgate serve --no-worker, and lockgate work twice")
        given = {"database_url": server.url, "lease_ms": str(LEASE_MS), "drain_s": str(DRAIN_S)}
        api = children.start(
            ["serve", "--no-worker", "--allow-unauthenticated", "--port", "0"], **given
        )
        workers = [children.start(["work"], **given) for _ in "AB"]
        address = api.ready()
        by_id = {worker.ready(): worker for worker in workers}
        pids = ", ".join(f"worker {'AB'[n]} process {w.pid}" for n, w in enumerate(workers))
        screen.step(f"ready at {address}, process {api.pid}; {pids}")
        with (
            httpx.Client(base_url=address, timeout=60.0, trust_env=False) as client,
            psycopg.connect(server.url, autocommit=True) as conn,
        ):
            yield Tour(screen, client, Ledger(conn), by_id)
        screen.step("stopping")


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
