"""S01: the commit landed, its acknowledgement did not. A's link to the database breaks there."""

from collections.abc import Iterator

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import clients_of, text_of
from tests.support.fault_proxy import Proxy
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

START, COMMIT = b"lockgate.start(", b"COMMIT"
TEN = "1 2 3 4 @hold:four 5 @hold:five 6 7 8 9 10"


@pytest.fixture
def pair(scene: Scene, proxy: Proxy) -> Iterator[Pair]:
    """A comes to the database through the proxy; B has a link that does not break."""
    members = (scene.crew.server("A", url=proxy.url), scene.crew.server("B", "--no-worker"))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(1)
        yield Pair(a, b, members, scene)
        scene.crew.close()


@case(1)
@pytest.mark.parametrize("cuts", [1, 4])
def test_a_start_whose_answer_is_lost_started_once(pair: Pair, proxy: Proxy, cuts: int) -> None:
    """One call and three repeats: the fourth cut leaves a typed answer, and a key that attaches."""
    faults = [proxy.arm("cut", START) for _ in range(cuts)]
    answer = pair.a.start("s1", {"say": "Hello."}, key="k1")
    for fault in faults:
        fault.seen()
    if cuts < 4:
        assert (answer.status_code, answer.json()["status"]) == (200, "started")
    else:
        assert (answer.status_code, answer.json()["code"]) == (500, "framework_store_unavailable")
        assert answer.json()["retryable"] is False, "a resend without a key might append twice"
    again = pair.b.started("s1", {"say": "Hello."}, key="k1")

    assert again["status"] == "attached"
    assert pair.a.settled("s1")["status"] == "completed"
    assert pair.runs("s1") == len(pair.inputs("s1")) == pair.models(again["runId"]) == 1


@case(1)
def test_a_start_that_never_came_through_leaves_the_key_free(pair: Pair, proxy: Proxy) -> None:
    faults = [proxy.arm("drop", START) for _ in range(2)]
    started = pair.a.started("s1", {"say": "Hello."}, key="k1")
    for fault in faults:
        fault.seen()
    assert started["status"] == "started"
    assert pair.a.settled("s1")["status"] == "completed"
    assert pair.runs("s1") == pair.models(started["runId"]) == 1


@case(1)
def test_chunks_whose_answer_is_lost_are_there_once(pair: Pair, proxy: Proxy) -> None:
    pair.a.started("s1", {"say": TEN})
    seen(lambda: pair.door.rows("select from lockgate_store.streams where head_sequence = 4"))
    fault = proxy.arm("cut", b"lockgate.append_chunks(")
    pair.stage.open("four")
    fault.seen()
    pair.stage.open("five")
    assert pair.a.settled("s1")["status"] == "completed"
    events = list(pair.b.events("s1"))

    words = [event for event in events if event.name == "chunk" and "delta" in event.chunk]
    assert [event.sequence for event in words] == list(range(1, 11))
    assert text_of(events) == "1 2 3 4 5 6 7 8 9 10"


@case(1)
@pytest.mark.parametrize("what", ["cut", "drop"])
def test_an_end_whose_answer_is_lost_is_one_end(pair: Pair, proxy: Proxy, what: str) -> None:
    fault = proxy.arm(what, b"lockgate.finish_run(", COMMIT)  # type: ignore[arg-type]
    started = pair.a.started("s1", {"say": "Hello."})
    fault.seen()
    events = list(pair.b.events("s1"))

    assert [event.name for event in events].count("end") == 1
    assert events[-1].data == {"status": "completed", "output": "Hello."}
    rows = pair.door.rows("select run_id, status from lockgate_store.settlements")
    assert [(str(row.run_id), row.status) for row in rows] == [(started["runId"], "completed")]
    assert pair.models(started["runId"]) == 1
