"""S30: approve twice, or approve and reject. Left: both in one chat message."""

from tests.cases.conftest import Pair
from tests.support.clients import at_once
from tests.support.proves import case
from tests.support.scene import call

ROUNDS = 100


@case(30)
def test_the_body_runs_as_was_decided_first(pair: Pair) -> None:
    for number in range(ROUNDS):
        session_id = f"s{number}"
        pair.a.started(session_id, {"calls": [call("pay", amount=10, to="A")]}, {"say": "Done."})
        (pay,) = pair.a.pending(session_id)
        answers = at_once(
            [
                lambda: pair.a.submit(session_id, pay, approved=True),  # noqa: B023
                lambda: pair.b.submit(session_id, pay, approved=False),  # noqa: B023
            ]
        )
        said = [answer.json() for answer in answers]
        (taken,) = [one for one, each in enumerate(said) if each["status"] == "accepted"]
        decided = taken == 0
        assert said[1 - taken]["approved"] is decided
        status = pair.a.settled(session_id)
        assert status["output"] == "Done."
        count = len(pair.stage.notes("tool", run=said[taken]["runId"], name="pay"))
        assert count == (1 if decided else 0)
        late = pair.b.submit(session_id, pay, approved=not decided).json()
        assert (late["status"], late["approved"]) == ("already_completed", decided)
    assert pair.door.row("select count(*) as n from lockgate_store.runs").n == 2 * ROUNDS


@case(30)
def test_whether_to_ask_is_not_asked_again(pair: Pair) -> None:
    pair.a.started("s1", {"calls": [call("spend", amount=500)]}, {"say": "Done."})
    (spend,) = pair.a.pending("s1")
    for client in (pair.a, pair.b):
        assert client.submit("s1", spend, approved=True).status_code == 200
    assert pair.a.settled("s1")["output"] == "Done."
    assert len(pair.stage.notes("asked")) == 1
    assert len(pair.stage.notes("tool", name="spend")) == 1
