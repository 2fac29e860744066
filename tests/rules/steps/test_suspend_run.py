"""lockgate.suspend_run: what is awaited becomes answerable by the commit that pauses the run."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.clock import Clock
from tests.support.cluster import Database
from tests.support.door import Door, Drive, texts_as_chunks, tool
from tests.support.proves import proves
from tests.support.standings import statuses
from tests.support.suspensions import (
    approval,
    approval_id,
    client,
    delegated,
    results,
    subagent,
    submit,
    suspended,
    unpaired,
)


@proves("suspend_run.suspended")
def test_run_session_and_stream_pause_and_the_attempt_is_over(db: Door, clock: Clock) -> None:
    drive = db.driven()
    drive.reply(1, "your turn", client("a"), client("b"))
    version = db.session().version
    now = clock.forward(seconds=9)
    answer = drive.suspend(state=Jsonb({"mood": "fine"}))
    session, run, stream = db.session(), db.run(drive.run_id), db.stream()
    (settlement,) = db.rows("select * from lockgate_store.settlements")

    assert (answer.outcome, answer.run_status) == ("suspended", "suspended_client_tool")
    assert answer.run_id is None
    assert (session.status, session.state, session.version) == (
        "paused",
        {"mood": "fine"},
        version + 1,
    )
    assert (session.current_run_id, session.terminal_run_id) == (drive.run_id, None)
    assert (run.status, run.owner_id, run.attempt) == (
        "suspended_client_tool",
        None,
        drive.attempt + 1,
    )
    assert (run.step_count, run.completed_at, run.end_sequence) == (0, None, None)
    assert (stream.status, stream.attempt) == ("paused", drive.attempt + 1)
    assert stream.final == {"status": "suspended_client_tool"}
    assert stream.committed_sequence == stream.head_sequence
    assert (settlement.run_id, settlement.status) == (drive.run_id, "suspended_client_tool")
    assert settlement.settled_at == now
    assert [m.role for m in db.messages()] == ["user", "assistant"]


@proves("suspend_run.suspended")
def test_what_is_awaited_is_announced_after_the_drives_last_chunks(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client("a"), tool("b"), approval("c"))
    drive.result(1, 2)
    head = db.stream().head_sequence
    drive.suspend(chunks=texts_as_chunks(["last words"]))
    last, picked, asked, paused = db.chunks()[head:]

    assert last["delta"] == "last words"
    assert (picked["type"], picked["toolCallId"], picked["toolName"]) == ("tool_start", "a", "pick")
    assert (picked["arguments"], picked["step"]) == ({}, 1)
    assert (asked["type"], asked["toolCallId"]) == ("tool_approval_request", "c")
    assert (asked["approvalId"], asked["input"]) == (approval_id(db, "c"), {"amount": 5})
    assert (paused["type"], paused["runId"]) == ("run_paused", str(drive.run_id))
    assert (paused["status"], paused["toolCallIds"]) == ("suspended_client_tool", ["a", "c"])
    assert paused["children"] == []


def test_a_client_call_is_announced_once_and_not_by_its_reply(db: Door) -> None:
    suspended(db, client("a"), client("b"))
    started = [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_start"]

    assert started == ["a", "b"]


def test_a_run_that_waits_for_children_alone_says_so(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", subagent())
    child = delegated(db, drive)
    answer = drive.suspend()

    assert (answer.outcome, answer.run_status) == ("suspended", "suspended_awaiting_children")
    assert db.chunks()[-1]["children"] == [child.child_session_id]
    assert statuses(db, drive.run_id) == ["suspended_awaiting_children"]


def test_a_run_that_waits_for_both_waits_for_the_client(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", subagent(), client())
    delegated(db, drive)

    assert drive.suspend().run_status == "suspended_client_tool"
    assert submit(db).run_id is None, "the child is awaited"


def test_a_state_that_the_step_did_not_change_is_kept(db: Door) -> None:
    drive = db.driven(input={"message": "hi", "state": {"n": 1}})
    drive.reply(1, "", client())
    drive.suspend()
    assert db.session().state == {"n": 1}
    claimed = db.claim(submit(db).run_id)

    assert claimed.state == {"n": 1}


def test_a_state_that_the_step_changed_is_in_the_next_checkpoint(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    drive.suspend(state=Jsonb({"n": 2}))
    again = db.drive(submit(db).run_id)
    again.reply(1, "done")

    assert db.row("select state from lockgate_store.checkpoints").state == {"n": 2}


@proves("suspend_run.ended")
@pytest.mark.parametrize(("verb", "status"), [("interrupt", "interrupted"), ("abort", "failed")])
def test_a_stop_that_stands_ends_the_run_instead(db: Door, verb: str, status: str) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    db.call(verb, session_id="s1", reason="enough")
    answer = drive.suspend()

    assert (answer.outcome, answer.run_status, answer.run_id) == ("ended", status, None)
    assert (db.session().status, db.run(drive.run_id).status) == (status, status)
    assert statuses(db, drive.run_id) == [status]
    assert unpaired(db) == set()
    assert "tool_start" not in [chunk["type"] for chunk in db.chunks()], "nobody was asked"
    assert submit(db).outcome == "run_ended"


@proves("suspend_run.continued")
def test_a_batch_that_is_complete_by_now_goes_on_in_the_same_commit(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", subagent(), tool("look"))
    child = delegated(db, drive)
    asked = db.drive(child.child_run_id)
    asked.reply(1, "done")
    asked.finish(output={"n": 1})
    drive.result(1, 2)
    answer = drive.suspend()
    run = db.run(answer.run_id)

    assert (answer.outcome, answer.run_status) == ("continued", "superseded")
    assert (run.status, run.drive, run.turn) == ("running", "continue", 2)
    assert (db.session().status, db.session().current_run_id) == ("active", run.run_id)
    assert statuses(db, drive.run_id) == ["suspended_awaiting_children"]
    assert [r["toolCallId"] for r in results(db)] == ["ask-1", "look"]
    assert drive.suspend().run_status == "superseded"


@proves("suspend_run.fenced")
def test_after_a_suspension_every_write_of_the_attempt_is_fenced(db: Door) -> None:
    drive = suspended(db)
    with db.nothing_written():
        answers = dict(drive.every_write())

    assert {answer.outcome for answer in answers.values()} == {"fenced"}
    assert answers["suspend_run"].run_status == "suspended_client_tool"
    assert answers["finish_run"].run_status == "suspended_client_tool"


@proves("suspend_run.fenced")
def test_a_suspension_of_unknown_outcome_is_read_back_from_its_repeat(db: Door) -> None:
    drive = suspended(db)
    answer = submit(db)
    with db.nothing_written():
        again = drive.suspend()
        strange = db.call("suspend_run", session_id="s1", run_id=answer.run_id, attempt=2, step=1)
        nobodys = db.call("suspend_run", session_id="s9", run_id=drive.run_id, attempt=1, step=1)

    assert (again.outcome, again.run_status) == ("fenced", "superseded")
    assert (strange.outcome, strange.run_status) == ("fenced", "running")
    assert (nobodys.outcome, nobodys.run_status) == ("fenced", None)


def misuse(drive: Drive, name: str) -> Any:
    match name:
        case "no reply yet":
            return drive.suspend(1)
        case "a server call unanswered":
            drive.reply(1, "", client(), tool("look"))
        case "nothing but server calls":
            drive.reply(1, "", tool("look"))
            drive.result(1, 1)
        case "a child that was never started":
            drive.reply(1, "", subagent())
        case "another step":
            drive.reply(1, "", client())
            return drive.suspend(2)
        case "a step that is committed":
            drive.reply(1, "said")
    return drive.suspend(1)


@pytest.mark.parametrize(
    "name",
    [
        "no reply yet",
        "a server call unanswered",
        "nothing but server calls",
        "a child that was never started",
        "another step",
        "a step that is committed",
    ],
)
def test_a_drive_that_has_nothing_to_wait_for_breaks_a_promise(db: Door, name: str) -> None:
    with pytest.raises(psycopg.DatabaseError) as broken:
        misuse(db.driven(), name)

    assert broken.value.sqlstate == "LG002"
    assert db.session().status == "active"


def test_an_approved_call_that_was_not_run_keeps_a_run_from_waiting(db: Door) -> None:
    suspended(db, approval(), client())
    submit(db)
    answer = {"kind": "approval-response", "approvalId": approval_id(db), "approved": True}
    again = db.drive(submit(db, "pay-1", answer=answer).run_id)
    with pytest.raises(psycopg.DatabaseError) as broken:
        again.suspend()

    assert broken.value.sqlstate == "LG002"


def test_a_suspension_clears_the_crash_loop_budget(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    db.requeue(drive.run_id, "raised")
    assert db.row("select * from lockgate_store.recoveries").attempts == 1
    again = db.drive(drive.run_id)
    again.suspend()

    assert db.rows("select * from lockgate_store.recoveries") == []


def test_a_later_attempt_suspends_with_what_the_lost_one_saved(db: Door) -> None:
    lost = db.driven()
    lost.reply(1, "", client(), tool("look"))
    lost.result(1, 2, "found")
    db.requeue(lost.run_id, "raised")
    again = db.drive(lost.run_id, worker_id="worker-2")

    assert again.suspend().outcome == "suspended"
    submit(db)
    assert [r["result"] for r in results(db)] == ["yes", "found"]


def test_an_older_snapshot_is_refused(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    db.execute("begin isolation level repeatable read")
    with pytest.raises(psycopg.DatabaseError) as broken:
        drive.suspend()
    db.execute("rollback")

    assert broken.value.sqlstate == "LG001"


def test_a_worker_that_freezes_after_it_holds_the_session_for_five_seconds(
    clean_database: Database,
) -> None:
    with clean_database.connect(autocommit=False) as connection:
        drive = Door(connection).driven()
        drive.reply(1, "", client())
        drive.suspend()
        (timeout,) = connection.execute("show idle_in_transaction_session_timeout").fetchone()  # type: ignore[misc]
        assert timeout == "5s"
