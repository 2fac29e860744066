"""S43: which database errors are retried: inside by SQLSTATE, outside by a typed code."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.cases.conftest import Pair, wait_less
from tests.support.clients import Client, at_once, clients_of
from tests.support.fault_proxy import Fault, Proxy
from tests.support.proves import case
from tests.support.scene import Scene, call

HELLO = {"say": "Hello."}
START = b"lockgate.start("
SUBMIT = b"lockgate.submit_tool_result("
PICKS = ({"calls": [call("pick")]}, {"say": "Picked."})
# How often each is called: not so many stops that no run comes to its pending call.
VERBS = {"start": 8, "submit": 24, "interrupt": 1, "resume": 3, "retry": 4}
# What a mixed call may be told: it is taken, or refused for what stands in its session.
TAKEN = {"started", "resumed", "accepted", "already_completed", "stopping", "not_running"}
REFUSED = {"state_already_running", "state_not_resumable", "unknown_tool_call", "validation_error"}


@pytest.fixture
def behind(scene: Scene, proxy: Proxy) -> Iterator[Client]:
    """A server whose link to the database is the proxy's; nobody drives."""
    server = scene.crew.server("A", "--no-worker", url=proxy.url, prepare=wait_less)
    with clients_of(server.ready()) as (client,):
        yield client
        scene.crew.close()


def refuse(proxy: Proxy, sqlstate: str, said: bytes = START, *, lasts: bool = False) -> Fault:
    return proxy.put(Fault("refuse", (said,), sqlstate, lasts))


def count(scene: Scene, table: str) -> int:
    return int(scene.door.row(f"select count(*) as n from lockgate_store.{table}").n)


@case(43)
def test_weather_that_passes_is_one_run(scene: Scene, proxy: Proxy, behind: Client) -> None:
    serialization, deadlock = refuse(proxy, "40001"), refuse(proxy, "40P01")
    answer = behind.start("s1", HELLO, key="k1")

    assert (answer.status_code, answer.json()["status"]) == (200, "started")
    assert (serialization.hits, deadlock.hits) == (1, 1)
    assert count(scene, "runs") == count(scene, "messages") == 1


@case(43)
def test_a_refusal_is_one_transaction(scene: Scene, proxy: Proxy, behind: Client) -> None:
    scene.door.beat()
    behind.started("s1", HELLO, key="k1")
    asked = proxy.put(Fault("see", (START,), lasts=True))
    busy = behind.start("s1", HELLO)
    conflict = behind.start("s1", {"say": "Other."}, key="k1")
    scene.door.execute("update lockgate_store.sessions set agent_type = 'short'")
    scene.door.finished("s2", agent_type="short")
    mismatch = behind.start("s2", HELLO)

    assert asked.hits == 3
    told = [(answer.json()["code"], answer.json()["retryable"]) for answer in (busy, conflict)]
    assert told == [("state_already_running", True), ("state_request_key_conflict", False)]
    assert mismatch.json()["code"] == "state_agent_type_mismatch"
    assert mismatch.json()["retryable"] is False


@case(43)
def test_weather_that_stays_is_told_after_a_few_tries(
    scene: Scene, proxy: Proxy, behind: Client
) -> None:
    storm = refuse(proxy, "40001", lasts=True)
    answer = behind.start("s1", HELLO, key="k1")

    assert (answer.status_code, answer.json()["code"]) == (503, "framework_store_unavailable")
    assert answer.json()["retryable"] is True
    assert 2 <= storm.hits <= 10
    assert count(scene, "sessions") == count(scene, "runs") == 0
    proxy.lift(storm)
    assert behind.started("s1", HELLO, key="k1")["status"] == "started"


def picked(scene: Scene, behind: Client) -> dict[str, Any]:
    """Bring a run to where it waits for a client's answer; a worker is there to go on."""
    scene.crew.worker("B").ready()
    behind.started("s1", *PICKS)
    (pending,) = behind.pending("s1")
    return pending


@case(43)
def test_an_answer_in_passing_weather_starts_one_continuation(
    scene: Scene, proxy: Proxy, behind: Client
) -> None:
    pending = picked(scene, behind)
    faults = [refuse(proxy, sqlstate, SUBMIT) for sqlstate in ("40001", "40P01")]
    answer = behind.submit("s1", pending, result="this one")

    assert answer.status_code == 200, answer.text
    assert [fault.hits for fault in faults] == [1, 1]
    assert behind.settled("s1")["output"] == "Picked."
    assert count(scene, "runs") == 2


@case(43)
def test_an_answer_in_lasting_weather_is_told_and_not_stored(
    scene: Scene, proxy: Proxy, behind: Client
) -> None:
    pending = picked(scene, behind)
    storm = refuse(proxy, "40001", SUBMIT, lasts=True)
    answer = behind.submit("s1", pending, result="this one")

    assert (answer.status_code, answer.json()["code"]) == (503, "framework_store_unavailable")
    assert answer.json()["retryable"] is True
    assert 2 <= storm.hits <= 10
    proxy.lift(storm)
    assert behind.pending("s1") == [pending]
    assert count(scene, "runs") == 1
    assert behind.submit("s1", pending, result="this one").status_code == 200
    assert behind.settled("s1")["output"] == "Picked."


@case(43)
def test_two_thousand_mixed_calls_meet_no_deadlock(pair: Pair) -> None:
    """Starts, answers, stops, resumes, retries and deliveries on three sessions, from everywhere.

    Two servers take them, and SQL clients beside them claim and mark what has settled.
    """
    codes: Counter[str] = Counter()

    def mixed(client: Client, seed: int) -> None:
        rng = Random(seed)
        for number in range(100):
            session_id, key = f"s{rng.randrange(3)}", f"k{seed}-{number}"
            codes[_asked(client, rng, session_id, key)] += 1

    deliveries = [pair.scene.database.connect() for _ in range(2)]
    try:
        at_once(
            [
                *(lambda c=c, n=n: mixed(c, n) for n, c in enumerate((pair.a, pair.b) * 10)),
                *(lambda c=c: _deliver(c) for c in deliveries),
            ]
        )
    finally:
        for connection in deliveries:
            connection.close()
    for session_id in ("s0", "s1", "s2"):
        pair.a.stop("abort", session_id, wait=True)
        pair.a.settled(session_id)
    row = pair.door.row("select deadlocks from pg_stat_database where datname = current_database()")

    assert row.deadlocks == 0
    assert sum(codes.values()) == 2_000
    assert set(codes) <= TAKEN | REFUSED, codes
    assert min(codes["started"], codes["stopping"]) > 3, codes
    assert codes["accepted"] + codes["already_completed"] > 0, codes


def _asked(client: Client, rng: Random, session_id: str, key: str) -> str:
    (verb,) = rng.choices([*VERBS], [*VERBS.values()])
    body: dict[str, Any] = {"agentType": "scripted"}
    if verb == "start":
        answer = client.start(session_id, *rng.choice([(HELLO,), PICKS, PICKS]), key=key)
    elif verb == "submit":
        answer = client.submit(session_id, _pending(client, session_id), result=key)
    elif verb == "interrupt":
        answer = client.stop("interrupt", session_id)
    else:
        if verb == "resume":
            body["options"] = {"mode": "continue"}
        answer = client.http.post(
            f"/sessions/{session_id}/{verb}", json=body, headers={"X-Helix-Request-Key": key}
        )
    said = answer.json()
    if said.get("code") == "state_session_not_found":
        return "state_not_resumable"  # before the session's first start
    return str(said.get("code") or said["status"])


def _pending(client: Client, session_id: str) -> dict[str, Any]:
    """Look for a call that waits; by the time it is answered it may be gone."""
    waiting = client.snapshot(session_id).get("pending") or [{"toolCallId": "nobody's"}]
    found: dict[str, Any] = waiting[0]
    return found


def _deliver(connection: Any) -> None:
    for _ in range(100):
        for due in connection.execute("select * from lockgate.claim_settlements('c')").fetchall():
            connection.execute("select * from lockgate.mark_delivered(%s, 'c')", [due[0]])
