"""S48: over-long keys and ids."""

import random
import string

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import call

WORD = string.ascii_letters + string.digits


def noise(length: int) -> str:
    """Return letters that do not compress."""
    return "".join(random.Random(48).choices(WORD, k=length))


@case(48)
def test_keys_and_session_ids_have_a_cap_and_are_not_echoed(split: Pair) -> None:
    for number, key in enumerate(("k", noise(128))):
        assert split.a.start(f"s{number}", {"say": "Hello."}, key=key).status_code == 200
    for key in (noise(129), noise(3_000), "a" * 3_000):
        answer = split.a.start("other", {"say": "Hello."}, key=key)
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
        assert key[:40] not in answer.text
    assert split.a.start(noise(256), {"say": "Hello."}, key="k").status_code == 200
    for session_id in (noise(257), noise(3_000), "a" * 3_000):
        answer = split.a.start(session_id, {"say": "Hello."}, key="k")
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
        assert session_id[:40] not in answer.text
    sessions = split.door.rows("select session_id from lockgate_store.sessions")
    assert {row.session_id for row in sessions} == {"s0", "s1", noise(256)}
    for session_id in ("s0", "s1", noise(256)):
        split.a.settled(session_id)


@case(48)
def test_an_id_that_a_model_made_never_fails_a_run(split: Pair) -> None:
    calls = [
        {"id": made, "tool": "add", "args": {"a": number, "b": 1}}
        for number, made in enumerate((noise(3_000), noise(10_000), "twice", "twice", "short"))
    ]
    split.a.started("s1", {"calls": calls}, {"say": "Done."})
    assert split.a.settled("s1")["output"] == "Done."
    (reply,) = (m for m in split.a.snapshot("s1")["messages"] if m["role"] == "assistant")
    shown = [part for part in reply["parts"] if part["type"] == "dynamic-tool"]
    assert [part["output"] for part in shown] == [1, 2, 3, 4, 5]
    ids = [part["toolCallId"] for part in shown]
    assert len(set(ids)) == 5
    assert ids[4] == "short"
    assert max(map(len, ids)) <= 256


@case(48)
def test_a_call_under_an_id_of_ours_is_answered_by_it(split: Pair) -> None:
    made = [noise(3_000), noise(10_000), "short"]
    calls = [{"id": each, **call("pick")} for each in made]
    split.a.started("s1", {"calls": calls}, {"say": "Done."})
    asked = split.a.pending("s1", 3)
    assert max(len(each["toolCallId"]) for each in asked) <= 256
    assert asked[2]["toolCallId"] == "short"
    for each in made[:2]:
        answer = split.a.submit("s1", {"toolCallId": each}, result="red")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_payload")
        assert each[:40] not in answer.text
    for number, shown_call in enumerate(asked):
        assert split.a.submit("s1", shown_call, result=number).json()["status"] == "accepted"
    assert split.a.settled("s1")["output"] == "Done."
    shown = [
        part
        for message in split.a.snapshot("s1")["messages"]
        for part in message["parts"]
        if part["type"] == "dynamic-tool"
    ]
    assert [part["output"] for part in shown] == [0, 1, 2]
