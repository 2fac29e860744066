"""What readers are told when a run goes on: from which one, and what came for it."""

from typing import Any

from tests.support.door import Door, tool
from tests.support.suspensions import (
    approval,
    client,
    decision,
    delegated,
    failing,
    subagent,
    submit,
    suspended,
)


def told(db: Door, run_id: object) -> list[dict[str, Any]]:
    """Return the chunks with which a run begins."""
    start = db.row("select start_sequence from lockgate_store.runs where run_id = %s", run_id)
    return db.chunks()[start.start_sequence :]


def test_a_run_that_goes_on_names_the_one_before_and_tells_the_answers(db: Door) -> None:
    first = suspended(db, client("a"), client("b"))
    submit(db, "b", answer=failing())
    answer = submit(db, "a", None)
    resumed, a, b = told(db, answer.run_id)

    assert (resumed["type"], resumed["previousRunId"]) == ("run_resumed", str(first.run_id))
    assert resumed["runId"] == str(answer.run_id)
    assert (a["type"], a["toolCallId"], a["success"], a["result"]) == ("tool_end", "a", True, None)
    assert (b["type"], b["toolCallId"], b["success"], b["error"]) == (
        "tool_end",
        "b",
        False,
        "no such shop",
    )
    assert answer.start_sequence + 3 == db.stream().head_sequence
    assert db.stream().committed_sequence == db.stream().head_sequence


def test_what_is_still_to_be_run_has_not_ended(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", approval("p"), tool("x"), approval("q"))
    drive.result(1, 2)
    drive.suspend()
    submit(db, "p", answer=decision(db, True, "p"))
    run_id = submit(db, "q", answer=decision(db, False, "q", reason="no")).run_id
    _, denied = told(db, run_id)

    assert (denied["toolCallId"], denied["denied"], denied["reason"]) == ("q", True, "no")
    db.drive(run_id).result(1, 1, "paid")
    assert [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_end"] == ["x", "q", "p"]


def test_a_sub_agents_end_comes_before_its_result(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client("a"), subagent("s"))
    child = delegated(db, drive, "s")
    drive.suspend()
    submit(db, "a")
    asked = db.drive(child.child_run_id)
    asked.reply(1, "done")
    asked.finish(output={"n": 1})
    chunks = told(db, db.session().current_run_id)

    assert [(c["type"], c.get("toolCallId")) for c in chunks] == [
        ("run_resumed", None),
        ("tool_end", "a"),
        ("subagent_end", "s"),
        ("tool_end", "s"),
    ]
    assert (chunks[2]["childSessionId"], chunks[2]["status"]) == (
        child.child_session_id,
        "completed",
    )
    assert chunks[3]["result"] == {"n": 1}


def test_answers_of_earlier_pauses_are_not_told_again(db: Door) -> None:
    suspended(db, client("a"))
    again = db.drive(submit(db, "a").run_id)
    again.reply(1, "", client("b"))
    again.suspend()
    chunks = told(db, submit(db, "b").run_id)

    assert [c.get("toolCallId") for c in chunks] == [None, "b"]


def test_a_sub_agents_call_that_a_drive_has_answered_is_not_told_again(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", subagent("s"), client("a"))
    refused = {"success": False, "error": "no such agent", "code": "tool_execution_failed"}
    answer = {"step": 1, "ordinal": 1, "response": refused}
    given = {"session_id": "s1", "run_id": drive.run_id, "attempt": drive.attempt}
    assert db.call("commit_result", **given, **answer).outcome == "saved"
    drive.suspend()
    submit(db, "a")

    ends = [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_end"]
    assert ends == ["s", "a"]
