"""S23: a late retry of an older request. History decides, before any rule of concurrency."""

import httpx

from tests.cases.conftest import Pair
from tests.support.proves import case

ONE, TWO, OTHER = {"say": "One."}, {"say": "Two. @hold:two"}, {"say": "Other."}


def refused(answer: httpx.Response, code: str, run_id: str) -> None:
    body = answer.json()
    assert answer.status_code == 409
    assert (body["code"], body["runId"], body["retryable"]) == (code, run_id, False)


@case(23)
def test_an_older_key_names_its_run_whatever_runs_now(pair: Pair) -> None:
    first = pair.a.started("s1", ONE, key="k1")["runId"]
    pair.a.settled("s1")
    second = pair.b.started("s1", TWO, key="k2")["runId"]
    for client in (pair.a, pair.b):
        refused(client.start("s1", ONE, key="k1"), "state_request_already_completed", first)
        refused(client.start("s1", OTHER, key="k1"), "state_request_key_conflict", first)
    pair.stage.open("two")
    pair.a.settled("s1")
    for client in (pair.a, pair.b):
        refused(client.start("s1", ONE, key="k1"), "state_request_already_completed", first)
        refused(client.start("s1", OTHER, key="k1"), "state_request_key_conflict", first)

    assert pair.runs("s1") == len(pair.inputs("s1")) == 2
    assert pair.models(first) == pair.models(second) == 1
    assert pair.a.status("s1")["runId"] == second
