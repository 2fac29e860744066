"""lockgate.finish_run: the end of a run is one commit, and it ends the attempt."""

from typing import Any

import psycopg
import pytest

from tests.support.clock import Clock
from tests.support.door import Door, tool
from tests.support.proves import case, proves


@proves("finish_run.finished")
def test_a_completed_run_ends_session_stream_and_attempt(db: Door, clock: Clock) -> None:
    drive = db.driven()
    drive.append("Hello")
    drive.reply(1, "Hello")
    now = clock.forward(seconds=9)
    answer = drive.finish(output={"ok": True})
    session, run, stream = db.session(), db.run(drive.run_id), db.stream()
    (settlement,) = db.rows("select * from lockgate_store.settlements")

    assert (answer.outcome, answer.run_status) == ("finished", "completed")
    assert (session.status, session.output, session.error_detail) == (
        "completed",
        {"ok": True},
        None,
    )
    assert (session.terminal_run_id, session.terminal_status) == (drive.run_id, "completed")
    assert (run.status, run.completed_at, run.output) == ("completed", now, {"ok": True})
    assert (run.owner_id, run.attempt) == (None, drive.attempt + 1)
    assert (stream.status, stream.attempt) == ("ended", drive.attempt + 1)
    assert stream.final == {"status": "completed", "output": {"ok": True}}
    assert run.end_sequence == stream.head_sequence == stream.committed_sequence
    assert (settlement.run_id, settlement.status) == (drive.run_id, "completed")
    assert settlement.settled_at == now


@proves("finish_run.finished")
def test_a_failed_run_fails_the_stream(db: Door) -> None:
    drive = db.driven()
    detail = {"message": "no model", "code": "provider_unavailable", "retryable": True}
    answer = drive.finish("failed", error_detail=detail)
    *_, error = db.chunks()

    assert answer.run_status == "failed"
    assert (db.session().status, db.session().error_detail) == ("failed", detail)
    assert db.run(drive.run_id).error_detail == detail
    assert db.stream().status == "failed"
    assert db.stream().final == {"status": "failed", "error": "no model", "errorDetail": detail}
    assert (error["type"], error["error"], error["errorDetail"]) == ("error", "no model", detail)


@proves("finish_run.finished")
def test_an_interrupted_run_keeps_what_was_said(db: Door) -> None:
    db.beat()
    drive = db.driven()
    drive.append("Hel")
    db.start(say="instead", concurrent_entry="interrupt_previous")
    answer = drive.finish(
        "stopped", partial=psycopg.types.json.Jsonb([{"type": "text", "text": "Hel"}])
    )
    *_, message = db.messages()
    *_, told = db.chunks()

    assert answer.run_status == "interrupted"
    assert (db.session().status, db.stream().status) == ("interrupted", "ended")
    assert (message.role, message.content[0]["text"]) == ("assistant", "Hel")
    assert (told["type"], told["reason"]) == ("run_interrupted", "superseded_by_new_entry")
    assert db.stream().final == {"status": "interrupted"}


def test_an_aborted_run_is_a_failed_one_with_the_reason(db: Door) -> None:
    drive = db.driven()
    db.execute(
        "update lockgate_store.runs set stop_kind = 'abort', stop_reason = 'enough',"
        " stop_requested_at = started_at"
    )
    answer = drive.finish("stopped")

    assert answer.run_status == "failed"
    assert db.session().output is None
    assert db.session().error_detail == {
        "message": "enough",
        "code": "framework_cancelled",
        "category": "framework",
        "retryable": False,
    }


@proves("finish_run.fenced", "append_chunks.fenced")
@case(3)
def test_after_its_end_every_write_of_the_attempt_is_fenced(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool())
    drive.finish()
    with db.nothing_written():
        answers = drive.every_write()

    assert {name: answer.outcome for name, answer in answers} == {
        name: "fenced" for name, _ in answers
    }
    assert dict(answers)["finish_run"].run_status == "completed"


@proves("finish_run.fenced")
def test_an_end_of_unknown_outcome_is_read_back_from_its_repeat(db: Door) -> None:
    drive = db.driven()
    drive.finish("failed", error_detail={"message": "boom"})
    with db.nothing_written():
        again = drive.finish("completed")

    assert (again.outcome, again.run_status) == ("fenced", "failed")


def test_no_such_run_is_fenced_too(db: Door) -> None:
    drive = db.driven("s1")
    db.start("s2")
    with db.nothing_written():
        answer = db.call(
            "finish_run", session_id="s2", run_id=drive.run_id, attempt=1, status="completed"
        )

    assert (answer.outcome, answer.run_status) == ("fenced", None)


@case(13)
@pytest.mark.parametrize("status", ["completed", "failed"])
def test_open_calls_are_paired_before_the_end(db: Door, status: str) -> None:
    drive = db.driven()
    drive.reply(1, "let me look", tool("call-a"), tool("call-b"))
    drive.result(1, 2, result="found")
    drive.finish(status)
    stopped, found = db.messages()[2].content

    assert (stopped["toolCallId"], stopped["success"]) == ("call-a", False)
    assert stopped["reason"] == "run_stopped"
    assert (found["toolCallId"], found["result"]) == ("call-b", "found")
    assert db.session().message_count == 3


@pytest.mark.parametrize("status", ["stopped", "interrupted", "superseded", "running"])
def test_a_drive_cannot_end_its_run_otherwise(db: Door, status: str) -> None:
    drive = db.driven()
    with db.nothing_written(), pytest.raises(psycopg.DatabaseError) as broken:
        drive.finish(status)

    assert broken.value.sqlstate == "LG002"


def test_an_oversize_output_is_left_out_of_the_stream_and_stands_on_the_run(db: Door) -> None:
    drive = db.driven()
    output: dict[str, Any] = {"text": "x" * 2**20}
    drive.finish(output=output)

    assert db.run(drive.run_id).output == output
    assert db.stream().final == {"status": "completed"}


def test_an_end_clears_the_crash_loop_budget(db: Door) -> None:
    drive = db.driven()
    db.requeue(drive.run_id, "raised")
    db.drive(drive.run_id).finish()

    assert db.rows("select * from lockgate_store.recoveries") == []
