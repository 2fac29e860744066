"""lockgate.commit_step: a step whose calls all have results becomes history."""

import json

import psycopg
import pytest

from tests.support.door import Door, Drive, tool
from tests.support.proves import proves


@pytest.fixture
def drive(db: Door) -> Drive:
    """A run whose first reply called two tools, both answered, the second one first."""
    drive = db.driven(input={"message": "hi", "state": {"a": 1}})
    drive.reply(1, "let me look", tool("call-a"), tool("call-b"))
    drive.result(1, 2, result="second")
    drive.result(1, 1, result="first")
    return drive


@proves("commit_step.saved")
def test_results_become_one_message_in_the_order_of_the_calls(db: Door, drive: Drive) -> None:
    answer = drive.step(1, state={"a": 2})
    *_, message = db.messages()
    (checkpoint,) = db.rows("select * from lockgate_store.checkpoints")
    *_, told = db.chunks()

    assert (answer.outcome, answer.calls) == ("saved", [])
    assert (message.role, message.step) == ("tool", 1)
    assert message.content[0] == {
        "type": "tool_result",
        "toolCallId": "call-a",
        "toolName": "look_up",
        "success": True,
        "result": "first",
    }
    assert [part["toolCallId"] for part in message.content] == ["call-a", "call-b"]
    assert (db.run(drive.run_id).step_count, db.session().state) == (1, {"a": 2})
    assert (checkpoint.message_count, checkpoint.state) == (3, {"a": 2})
    assert (told["type"], told["step"], told["messageCount"]) == ("step_committed", 1, 3)
    assert {call.status for call in db.calls(drive.run_id)} == {"consumed"}


def test_a_step_that_left_the_state_alone_stores_no_copy_of_it(db: Door, drive: Drive) -> None:
    drive.step(1)
    drive.reply(2, "done")
    first, second = db.rows("select * from lockgate_store.checkpoints order by step")

    assert db.session().state == {"a": 1}
    assert (first.state, second.state) == ({"a": 1}, None), "what the start brought, kept once"


@proves("commit_step.repeated")
def test_a_committed_step_is_committed_once(db: Door, drive: Drive) -> None:
    drive.step(1, state={"a": 2})
    with db.nothing_written():
        assert drive.step(1, state={"a": 3}).outcome == "repeated"


@proves("commit_step.fenced")
def test_a_step_of_a_lost_attempt_is_fenced_and_the_next_attempt_commits_it(
    db: Door, drive: Drive
) -> None:
    db.requeue(drive.run_id, "raised")
    mine = db.drive(drive.run_id, worker_id="worker-2")
    with db.nothing_written():
        assert drive.step(1).outcome == "fenced"

    assert mine.step(1).outcome == "saved"


def test_a_call_without_a_result_is_a_broken_promise(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("call-a"), tool("call-b"))
    drive.result(1, 1)
    with db.nothing_written(), pytest.raises(psycopg.DatabaseError) as broken:
        drive.step(1)

    assert broken.value.sqlstate == "LG002"
    assert json.loads(broken.value.diag.message_detail or "") == {
        "runId": str(drive.run_id),
        "step": 1,
        "stepCount": 0,
    }
