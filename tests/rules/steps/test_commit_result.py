"""lockgate.commit_result: one tool's result is saved, so its body never runs again."""

import pytest

from tests.support.clock import Clock
from tests.support.door import Door, Drive, texts_as_chunks, tool
from tests.support.proves import case, proves


@pytest.fixture
def drive(db: Door) -> Drive:
    """A run whose first reply called two tools."""
    drive = db.driven()
    drive.reply(1, "let me look", tool("call-a"), tool("call-b"))
    return drive


@proves("commit_result.saved")
@case(9)
def test_a_result_is_stored_and_told_and_is_no_message_yet(
    db: Door, drive: Drive, clock: Clock
) -> None:
    now = clock.forward(seconds=1)
    answer = drive.result(1, 2, result={"n": 1}, chunks=texts_as_chunks(["progress"]))
    call = db.calls(drive.run_id)[1]
    *_, progress, end = db.chunks()

    assert (answer.outcome, [c["status"] for c in answer.calls]) == (
        "saved",
        ["pending", "answered"],
    )
    assert (call.status, call.submitted_at) == ("answered", now)
    assert call.response == {"success": True, "result": {"n": 1}}
    assert progress["delta"] == "progress"
    assert (end["type"], end["toolCallId"], end["step"]) == ("tool_end", "call-b", 1)
    assert (end["success"], end["result"]) == (True, {"n": 1})
    assert len(db.messages()) == 2
    assert db.stream().committed_sequence == db.stream().head_sequence == answer.head_sequence


@proves("commit_result.repeated")
def test_the_first_result_wins(db: Door, drive: Drive) -> None:
    drive.result(1, 1, result="first")
    with db.nothing_written():
        again = drive.result(1, 1, result="second")
    drive.result(1, 2)
    drive.step(1)
    with db.nothing_written():
        consumed = drive.result(1, 1, result="third")

    assert (again.outcome, consumed.outcome) == ("repeated", "repeated")
    assert db.calls(drive.run_id)[0].response["result"] == "first"


@proves("commit_result.repeated")
def test_a_call_that_nobody_made_takes_no_result(db: Door, drive: Drive) -> None:
    with db.nothing_written():
        assert drive.result(1, 3).outcome == "repeated"
        assert drive.result(2, 1).outcome == "repeated"


@proves("commit_result.fenced")
@case(3)
def test_a_result_of_a_lost_attempt_is_fenced(db: Door, drive: Drive) -> None:
    db.requeue(drive.run_id, "raised")
    with db.nothing_written():
        assert drive.result(1, 1).outcome == "fenced"
    mine = db.drive(drive.run_id, worker_id="worker-2")
    with db.nothing_written():
        assert drive.result(1, 1).outcome == "fenced"

    assert mine.result(1, 1).outcome == "saved"
