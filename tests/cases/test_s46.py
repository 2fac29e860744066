"""S46: what the server adds must not count. Left: an upgrade; other routes."""

from typing import Any

import httpx

from tests.cases.conftest import Pair
from tests.support.clients import KEY, Client
from tests.support.proves import case

BASE: dict[str, Any] = {"agentType": "scripted", "input": {"message": "hi"}}
PARTS = [{"role": "user", "content": [{"type": "text", "text": "hi"}], "id": "made-by-a-client"}]

NAMELESS = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


def send(client: Client, body: Any, session_id: str = "s1") -> httpx.Response:
    return client.http.post(f"/sessions/{session_id}/start", json=body, headers={KEY: "k1"})


@case(46)
def test_what_says_nothing_more_is_the_same_request(pair: Pair) -> None:
    run_id = send(pair.a, BASE).json()["runId"]
    pair.a.settled("s1")
    optional = ("userId", "tags", "metadata", "parentSessionId", "rootSessionId")
    same = [
        BASE,
        {**BASE, "input": {"message": "hi", "state": None}},
        {**BASE, "input": {"message": "hi", "state": {}}},
        {**BASE, "sessionId": "s1"},
        *({**BASE, name: None} for name in optional),
        {**BASE, "tags": [], "metadata": {}},
    ]
    for body in same:
        answer = send(pair.b, body)
        assert (answer.status_code, answer.json().get("status")) == (200, "attached"), body
        assert answer.json()["runId"] == run_id
    assert pair.runs("s1") == 1


@case(46)
def test_ids_that_a_client_makes_per_send_do_not_count(pair: Pair) -> None:
    first = send(pair.a, {**BASE, "input": {"message": PARTS}})
    assert first.json()["status"] == "started"
    for again in ([{**PARTS[0], "id": "another"}], [{**PARTS[0], "id": "m" * 200}], NAMELESS):
        answer = send(pair.b, {**BASE, "input": {"message": again}})
        assert (answer.status_code, answer.json().get("status")) == (200, "attached"), again
    other = [{"role": "user", "content": [{"type": "text", "text": "ho"}]}]
    answer = send(pair.b, {**BASE, "input": {"message": other}})
    assert answer.json()["code"] == "state_request_key_conflict"
    pair.a.settled("s1")
