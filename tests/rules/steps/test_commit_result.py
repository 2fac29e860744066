"""lockgate.commit_result: one tool's result is saved, so its body never runs again."""

import pytest
from psycopg.types.json import Jsonb

from tests.support.clock import Clock
from tests.support.door import Door, Drive, texts_as_chunks, tool
from tests.support.proves import case, proves
from tests.support.suspensions import client, submit


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


def test_usage_is_there_exactly_when_the_result_is(db: Door, drive: Drive) -> None:
    used = Jsonb(
        [
            {"kind": "tool", "source": "tool", "tool": "look_up", "success": True, "durationMs": 7},
            {"kind": "custom", "source": "tool", "type": "pages", "value": 2},
        ]
    )
    drive.result(1, 1, usage=used)
    with db.nothing_written():
        drive.result(1, 1, usage=used)
        drive.result(1, 3, usage=used)
    entries = db.rows("select * from lockgate_store.usage order by entry")

    assert [(e.kind, e.step, e.run_id) for e in entries] == [
        ("tool", 1, drive.run_id),
        ("custom", 1, drive.run_id),
    ]


def test_a_result_for_a_call_that_a_client_was_to_run_is_the_drives_to_give(db: Door) -> None:
    """Arguments that are unusable are answered before anybody is asked."""
    drive = db.driven()
    drive.reply(1, "", client("a"), client("b"))
    drive.result(1, 1, "unusable")
    drive.suspend()

    assert [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_start"] == ["b"]
    assert submit(db, "a").outcome == "already_completed"
    assert submit(db, "b").run_id is not None
