"""S11: stop and submit race on a suspended run."""

from typing import Any

from tests.cases.conftest import Pair
from tests.support.clients import at_once, terminal
from tests.support.proves import case
from tests.support.scene import call
from tests.support.seen import seen

ROUNDS = 100
PAY = {"calls": [call("pay", amount=10, to="A")]}
DONE = {"say": "Done."}


def paid(pair: Pair, run_id: str) -> int:
    return len(pair.stage.notes("tool", run=run_id, name="pay"))


@case(11)
def test_an_abort_says_whether_it_stands_and_is_kept(pair: Pair) -> None:
    outcomes = {"not_running": 0, "stopping": 0}
    for number in range(ROUNDS):
        session_id = f"s{number}"
        pair.a.started(session_id, PAY, DONE)
        (pay,) = pair.a.pending(session_id)
        stop, submit = at_once(
            [
                lambda: pair.a.stop("abort", session_id),  # noqa: B023 - called in this round
                lambda: pair.b.submit(session_id, pay, approved=True),  # noqa: B023
            ]
        )
        assert (stop.status_code, submit.status_code) == (200, 200)
        run_id, said = submit.json()["runId"], stop.json()["status"]
        outcomes[said] += 1
        row = seen(lambda: _ended(pair, run_id), f"{run_id} has ended")  # noqa: B023
        if said == "not_running":
            assert (row.status, paid(pair, run_id)) == ("completed", 1)
        else:
            assert row.status == "failed"
            assert row.error_detail["code"] == "framework_cancelled"
            _holds_what_it_paid(pair, session_id, paid(pair, run_id))
    assert sum(outcomes.values()) == ROUNDS


@case(11)
def test_a_stopped_answer_is_never_followed_by_a_payment(pair: Pair) -> None:
    for number in range(20):
        session_id = f"s{number}"
        pair.a.started(session_id, PAY, DONE)
        (pay,) = pair.a.pending(session_id)
        run_id = pair.b.submit(session_id, pay, approved=True).json()["runId"]
        stop = pair.a.stop("abort", session_id, run_id=run_id, wait=True).json()
        count = paid(pair, run_id)
        row = seen(lambda: _ended(pair, run_id), f"{run_id} has ended")  # noqa: B023
        assert paid(pair, run_id) == count
        assert stop["status"] in ("stopped", "not_running")
        assert stop["runStatus" if stop["status"] == "stopped" else "runId"] in (
            row.status,
            run_id,
        )


@case(11)
def test_an_abort_of_a_paused_session_writes_nothing(pair: Pair) -> None:
    run_id = pair.a.started("s1", PAY, DONE)["runId"]
    (pay,) = pair.a.pending("s1")
    before = pair.scene.stored()
    stop = pair.a.stop("abort", "s1").json()
    assert (stop["status"], stop["runId"]) == ("not_running", run_id)
    assert pair.a.stop("interrupt", "s1").status_code == 400
    assert pair.scene.stored() == before
    assert len(terminal([*pair.a.events("s1")])) == 1
    assert pair.b.submit("s1", pay, approved=True).json()["status"] == "accepted"
    status = pair.a.settled("s1")
    assert (status["output"], paid(pair, status["runId"])) == ("Done.", 1)
    assert len(terminal([*pair.a.events("s1")])) == 1


def _ended(pair: Pair, run_id: str) -> Any:
    row = pair.door.run(run_id)  # type: ignore[arg-type]  # Postgres reads a uuid from its text
    return row if row.status not in ("running", "suspended_client_tool") else None


def _holds_what_it_paid(pair: Pair, session_id: str, count: int) -> None:
    """A body that had begun has its result in history; one that had not was stopped before."""
    (part,) = [
        part
        for message in pair.door.messages(session_id)
        if message.role == "tool"
        for part in message.content
    ]
    assert count in (0, 1)
    if count == 0:
        assert part["reason"] == "run_stopped", part
