"""What is approved is what runs, in the run that goes on, and all results are told together."""

from typing import Any

import pytest

from tests.support.door import Door, Drive, tool
from tests.support.store_client import StoreClient
from tests.support.suspensions import (
    approval,
    client,
    decision,
    failing,
    results,
    submit,
    suspended,
    unpaired,
)


def told(db: Door) -> list[tuple[str, Any]]:
    """Return the results in the history as ids and what stands for them."""
    return [(r["toolCallId"], r.get("result", r.get("error"))) for r in results(db)]


def approve(db: Door, tool_call_id: str = "pay-1") -> Any:
    return submit(db, tool_call_id, answer=decision(db, True, tool_call_id))


def test_an_approved_call_is_the_next_runs_to_run(db: Door) -> None:
    suspended(db, approval())
    answer = approve(db)
    claimed = db.claim(answer.run_id)
    (call,) = claimed.calls

    assert (answer.outcome, answer.approved) == ("accepted", True)
    assert (call["step"], call["ordinal"], call["toolCallId"]) == (1, 1, "pay-1")
    assert (call["kind"], call["status"], call["approved"]) == ("approval", "pending", True)
    assert (call["input"], "response" in call) == ({"amount": 5}, False)
    assert (claimed.step_count, claimed.message_count) == (0, 2)
    assert told(db) == []


def test_its_result_closes_the_step_as_after_a_crash(db: Door) -> None:
    suspended(db, approval())
    drive = db.drive(approve(db).run_id)
    assert drive.begin(1, 1).outcome == "saved"
    assert drive.result(1, 1, "paid", closes_step=True).outcome == "saved"
    reply = drive.reply(2, "done")
    drive.finish()

    assert reply.outcome == "saved"
    assert told(db) == [("pay-1", "paid")]
    assert [m.role for m in db.messages()] == ["user", "assistant", "tool", "assistant"]
    assert [c.step for c in db.rows("select step from lockgate_store.checkpoints")] == [1, 2]


def test_the_whole_batch_goes_over_and_keeps_its_order(db: Door) -> None:
    drive = db.driven()
    calls = (client("a"), approval("b"), tool("c"), approval("d"), client("e"))
    drive.reply(1, "", *calls)
    drive.result(1, 3, "found")
    drive.suspend()
    submit(db, "e", "last")
    approve(db, "b")
    submit(db, "d", answer=decision(db, False, "d", reason="too dear"))
    again = db.drive(submit(db, "a", "first").run_id)
    statuses = {c.tool_call_id: (c.status, c.step) for c in db.calls(again.run_id)}

    assert db.calls(drive.run_id) == []
    assert statuses == {
        "a": ("answered", 1),
        "b": ("pending", 1),
        "c": ("answered", 1),
        "d": ("answered", 1),
        "e": ("answered", 1),
    }
    again.result(1, 2, "paid")
    again.step(1)
    assert told(db) == [
        ("a", "first"),
        ("b", "paid"),
        ("c", "found"),
        ("d", "Denied: too dear"),
        ("e", "last"),
    ]
    assert results(db)[3]["denied"] is True


def test_a_denied_call_runs_nowhere_and_is_history_at_once(db: Door) -> None:
    suspended(db, approval())
    answer = submit(db, "pay-1", answer=decision(db, False, reason="too dear"))

    assert (answer.outcome, answer.approved) == ("accepted", False)
    assert told(db) == [("pay-1", "Denied: too dear")]
    assert results(db)[0] == {
        "type": "tool_result",
        "toolCallId": "pay-1",
        "toolName": "pay",
        "success": False,
        "denied": True,
        "reason": "too dear",
        "error": "Denied: too dear",
    }
    assert db.claim(answer.run_id).calls == []


def test_an_approval_that_could_not_be_asked_for_is_not_executed(db: Door) -> None:
    suspended(db, approval())
    answer = submit(db, "pay-1", answer=failing("the user has left"))

    assert (answer.outcome, answer.approved) == ("accepted", None)
    assert told(db) == [("pay-1", "the user has left")]
    assert db.claim(answer.run_id).calls == []


def approved_beside_another(db: Door) -> Drive:
    drive = suspended(db, approval(), client())
    approve(db)
    return drive


def test_what_was_approved_and_never_run_is_not_told_as_done(db: Door) -> None:
    approved_beside_another(db)
    db.start(say="never mind")

    assert [(r["toolCallId"], r["success"], r["reason"]) for r in results(db)] == [
        ("pay-1", False, "run_stopped"),
        ("pick-1", False, "client_tool_abandoned"),
    ]
    assert submit(db, "pay-1", answer=decision(db, True)).outcome == "already_completed"


def test_a_stop_before_the_body_leaves_it_undone(db: Door) -> None:
    approved_beside_another(db)
    db.call("interrupt", session_id="s1", include_suspended=True)
    drive = db.drive(submit(db).run_id)
    drive.finish("stopped")

    assert [(r["toolCallId"], r["success"]) for r in results(db)] == [
        ("pay-1", False),
        ("pick-1", True),
    ]


def test_a_resume_past_an_approved_call_does_not_run_it(db: Door) -> None:
    """Only a foreign hand leaves a complete batch behind; what it decided is still no result."""
    drive = suspended(db, approval())
    db.execute(
        "update lockgate_store.tool_calls set status = 'answered', approved = true,"
        " submitted_at = lockgate.now()"
    )
    run_id = db.resume(options={"mode": "with_message", "message": "go on"}).run_id

    assert [m.role for m in db.messages()] == ["user", "assistant", "tool", "user"]
    assert (results(db)[0]["success"], results(db)[0]["reason"]) == (False, "run_stopped")
    assert db.claim(run_id).calls == []
    assert [c.status for c in db.calls(drive.run_id)] == ["abandoned"]


def test_a_takeover_by_another_worker_finds_the_call_open(db: Door) -> None:
    suspended(db, approval(), client())
    submit(db)
    lost = db.drive(approve(db).run_id)
    lost.begin(1, 1)
    db.requeue(lost.run_id, "raised")
    claimed = db.claim(lost.run_id, worker_id="worker-2")
    paid, picked = claimed.calls

    assert (claimed.attempt, paid["status"], picked["status"]) == (2, "pending", "answered")
    assert paid["begunAt"] is not None, "a body was begun whose outcome nobody knows"
    assert picked["response"] == {"success": True, "result": "yes"}


# What was given over is still paired, wherever an entry goes back to.


@pytest.mark.parametrize("body", ["never ran", "ran"])
def test_a_retry_of_the_run_that_went_on_keeps_calls_and_results_together(
    db: Door, body: str
) -> None:
    suspended(db, approval(), client())
    submit(db)
    drive = db.drive(approve(db).run_id)
    if body == "ran":
        drive.result(1, 1, "paid")
    drive.finish("failed")
    assert db.retry().outcome == "resumed"

    assert unpaired(db) == set()
    assert [m.role for m in db.messages()] == ["user", "assistant", "tool"]
    assert told(db) == [
        ("pay-1", "paid" if body == "ran" else "Not executed: run_stopped"),
        ("pick-1", "yes"),
    ]


@pytest.mark.parametrize("keep", range(7))
def test_wherever_a_cut_falls_behind_a_step_that_went_over(db: Door, keep: int) -> None:
    suspended(db, approval(), client())
    submit(db)
    drive = db.drive(approve(db).run_id)
    drive.result(1, 1, "paid", closes_step=True)
    drive.reply(2, "and now", tool("c"))
    drive.result(2, 1, closes_step=True)
    drive.reply(3, "done")
    drive.finish()
    assert len(db.messages()) == 6
    answer = StoreClient(db).start(drive="resume", keep_messages=keep)

    assert answer.outcome == "started"
    assert unpaired(db) == set()
    assert db.session().message_count == keep + (keep in (2, 4))


def test_a_body_that_has_run_is_not_run_again_by_the_next_run(db: Door) -> None:
    """A continuation that suspends once more hands on the result, and nothing to execute."""
    suspended(db, approval())
    drive = db.drive(approve(db).run_id)
    drive.result(1, 1, "paid")
    answer = drive.suspend()

    assert answer.outcome == "continued"
    assert told(db) == [("pay-1", "paid")]
    assert db.claim(answer.run_id).calls == []
