"""S24: the same request in another spelling. The fixture file of digests is a test of the rule."""

import httpx

from tests.cases.conftest import Pair
from tests.support.clients import KEY, Client
from tests.support.proves import case

WHOLE = '{"agentType":"scripted","input":{"message":"hi","state":{"a":1,"b":[1,2],"x":0.00001}}}'
SAME = (
    '{"input":{"state":{"x":0.00001,"b":[1,2],"a":1},"message":"hi"},"agentType":"scripted"}',
    WHOLE.replace(",", " , ").replace(":", " :\n\t"),
    WHOLE.replace('"hi"', '"\\u0068i"'),
    WHOLE.replace('"a":1', '"a":1.0'),
    WHOLE.replace('"a":1', '"a":1e0'),
    WHOLE.replace("0.00001", "1e-5"),
    WHOLE.replace("[1,2]", "[1.0,2E+0]"),
)
OTHER = (
    WHOLE.replace("[1,2]", "[2,1]"),
    WHOLE.replace('"a":1', '"a":"1"'),
    WHOLE.replace('"a":1', '"a":true'),
    WHOLE.replace('"a":1', '"a":-1'),
    WHOLE.replace('"hi"', '"hi "'),
)


def send(client: Client, session_id: str, body: str, key: str = "k1") -> httpx.Response:
    headers = {KEY: key, "content-type": "application/json"}
    return client.http.post(f"/sessions/{session_id}/start", content=body.encode(), headers=headers)


@case(24)
def test_equal_values_attach_and_no_two_different_ones_fall_together(pair: Pair) -> None:
    run_id = send(pair.a, "s1", WHOLE).json()["runId"]
    pair.a.settled("s1")
    for body in SAME:
        answer = send(pair.b, "s1", body)
        assert (answer.status_code, answer.json().get("status")) == (200, "attached"), body
        assert answer.json()["runId"] == run_id
    for body in OTHER:
        answer = send(pair.b, "s1", body)
        assert answer.json()["code"] == "state_request_key_conflict", body
    assert pair.runs("s1") == 1


@case(24)
def test_numbers_that_a_float_cannot_tell_apart_are_different(pair: Pair) -> None:
    big = WHOLE.replace('"a":1', '"a":9007199254740993')
    send(pair.a, "s1", big)
    near = send(pair.b, "s1", big.replace("993", "992"))
    assert near.json()["code"] == "state_request_key_conflict"
    assert send(pair.b, "s1", big).json()["status"] == "attached"
    pair.a.settled("s1")
    assert '"a":9007199254740993' in pair.a.http.get("/sessions/s1/snapshot").text


@case(24)
def test_a_minus_before_a_zero_is_nothing(pair: Pair) -> None:
    send(pair.a, "s1", WHOLE.replace('"a":1', '"a":0'))
    for zero in ("-0", "-0.0", "0e5", "0.000"):
        answer = send(pair.b, "s1", WHOLE.replace('"a":1', f'"a":{zero}'))
        assert answer.json()["status"] == "attached", zero
    pair.a.settled("s1")
