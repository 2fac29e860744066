"""lockgate.submit_tool_result: an answer is stored once, and the last of a batch goes on."""

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.suspensions import (
    client,
    failing,
    results,
    submit,
    suspended,
    suspends,
)


@proves("submit_tool_result.accepted")
def test_the_last_answer_starts_the_run_that_goes_on(db: Door, clock: Clock) -> None:
    first = suspended(db)
    head = db.stream().head_sequence
    now = clock.forward(seconds=5)
    answer = submit(db, result={"n": 1})
    run, session, (call,) = db.run(answer.run_id), db.session(), db.calls(first.run_id)

    assert (answer.outcome, answer.session_id, answer.tool_call_id) == ("accepted", "s1", "pick-1")
    assert (answer.tool_name, answer.call_run_id, answer.approved) == ("pick", first.run_id, None)
    assert (answer.start_sequence, answer.detail) == (head, None)
    assert (run.drive, run.turn, run.status, run.request_key) == ("continue", 2, "running", None)
    assert (session.status, session.current_run_id) == ("active", run.run_id)
    assert db.run(first.run_id).status == "superseded"
    assert (call.status, call.submitted_at, call.consumed_at) == ("consumed", now, now)
    assert results(db) == [
        {
            "type": "tool_result",
            "toolCallId": "pick-1",
            "toolName": "pick",
            "success": True,
            "result": {"n": 1},
        }
    ]
    assert db.workflow(run.drive_id).status == "ENQUEUED"
    claimed = db.claim(run.run_id)
    assert (claimed.drive, claimed.calls, claimed.message_count) == ("continue", [], 3)


@proves("submit_tool_result.accepted")
def test_an_answer_that_is_not_the_last_is_stored_and_starts_nothing(db: Door) -> None:
    first = suspended(db, client("a"), client("b"))
    answer = submit(db, "b", "second")
    waiting, stored = db.calls(first.run_id)

    assert (answer.outcome, answer.run_id, answer.start_sequence) == ("accepted", None, None)
    assert (waiting.status, stored.status) == ("pending", "answered")
    assert stored.response == {"success": True, "result": "second"}
    assert db.session().turn_count == 1
    assert submit(db, "a", "first").run_id is not None
    assert [(r["toolCallId"], r["result"]) for r in results(db)] == [
        ("a", "first"),
        ("b", "second"),
    ]


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, 0.5])
def test_an_empty_result_is_a_result(db: Door, value: object) -> None:
    suspended(db)

    assert submit(db, result=value).outcome == "accepted"
    (stored,) = results(db)
    assert (stored["success"], stored["result"]) == (True, value)


def test_a_client_may_say_that_it_failed(db: Door) -> None:
    suspended(db)

    assert submit(db, answer=failing()).outcome == "accepted"
    (stored,) = results(db)
    assert (stored["success"], stored["error"]) == (False, "no such shop")
    assert "result" not in stored


def test_a_digit_that_a_float_would_lose_is_kept(db: Door) -> None:
    suspended(db)
    db.execute(
        "select lockgate.submit_tool_result('s1', 'pick-1',"
        """ '{"kind": "client-tool-result", "result": 12345678901234567890.123456789}')"""
    )

    assert (
        db.row(
            "select content #>> '{0,result}' as result from lockgate_store.messages"
            " where role = 'tool'"
        ).result
        == "12345678901234567890.123456789"
    )


@proves("submit_tool_result.already_completed")
def test_the_first_answer_wins(db: Door) -> None:
    first = suspended(db, client("a"), client("b"))
    submit(db, "a", "first")
    with db.nothing_written():
        stored = submit(db, "a", "second")
        failed = submit(db, "a", answer=failing())
    submit(db, "b")
    with db.nothing_written():
        consumed = submit(db, "a", "third")

    assert [each.outcome for each in (stored, failed, consumed)] == ["already_completed"] * 3
    assert (consumed.call_run_id, consumed.run_id) == (first.run_id, None)
    assert results(db)[0]["result"] == "first"


def test_nothing_at_all_is_refused(db: Door) -> None:
    suspended(db)
    with db.nothing_written():
        silent = db.call("submit_tool_result", session_id="s1", tool_call_id="pick-1", answer=None)
        nameless = submit(db, None)

    assert (silent.outcome, silent.detail) == ("invalid_request", {"field": "answer"})
    assert (nameless.outcome, nameless.detail) == ("invalid_request", {"field": "toolCallId"})


def test_an_older_snapshot_is_refused(db: Door) -> None:
    suspended(db)
    db.execute("begin isolation level repeatable read")
    with pytest.raises(psycopg.DatabaseError) as broken:
        submit(db)
    db.execute("rollback")

    assert broken.value.sqlstate == "LG001"


def test_an_answer_counts_once_however_often_a_session_waits(db: Door) -> None:
    """The model names its calls alike in each step; what is announced is new each time."""
    suspended(db)
    answer = submit(db, result=1)
    suspends(db.drive(answer.run_id))
    with db.nothing_written():
        assert submit(db, result=2).outcome == "already_completed"

    assert submit(db, "pick-1_2", result=2).outcome == "accepted"
    assert [(r["toolCallId"], r["result"]) for r in results(db)] == [("pick-1", 1), ("pick-1_2", 2)]


def test_the_run_that_goes_on_settles_and_the_one_before_does_so_once(db: Door) -> None:
    first = suspended(db)
    second = db.drive(submit(db).run_id)
    second.reply(1, "done")
    second.finish()
    settled = db.rows("select run_id, status from lockgate_store.settlements order by status")

    assert [(row.run_id, row.status) for row in settled] == [
        (second.run_id, "completed"),
        (first.run_id, "suspended_client_tool"),
    ]


def test_a_big_answer_is_told_of_and_kept(db: Door) -> None:
    suspended(db)
    text = "x" * 1_000_000

    assert submit(db, result=text).outcome == "accepted"
    assert results(db)[0]["result"] == text


def test_an_answer_comes_in_sql_alone(db: Door) -> None:
    suspended(db)
    answer = db.row(
        "select * from lockgate.submit_tool_result('s1', 'pick-1', %s)",
        Jsonb({"kind": "client-tool-result", "result": "plain"}),
    )

    assert (answer.outcome, results(db)[0]["result"]) == ("accepted", "plain")
