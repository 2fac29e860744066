"""What a client is told of the calls that wait for it: enough to answer each, and no more."""

from tests.support.door import Door, tool
from tests.support.suspensions import (
    approval,
    approval_id,
    client,
    decision,
    delegated,
    subagent,
    submit,
    suspended,
)


def test_calls_are_announced_in_their_order_as_what_they_are(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", approval("c"), subagent("s"), client("a"), tool("x"), client("b"))
    delegated(db, drive, "s")
    drive.result(1, 4)
    head = db.stream().head_sequence
    drive.suspend()
    told = [(c["type"], c.get("toolCallId")) for c in db.chunks()[head:]]

    assert told == [
        ("tool_approval_request", "c"),
        ("tool_start", "a"),
        ("tool_start", "b"),
        ("run_paused", None),
    ]


def test_what_a_client_is_told_is_what_it_answers_with(db: Door) -> None:
    suspended(db, approval("c"), client("a"))
    asked, start, _ = db.chunks()[-3:]

    assert {k: asked[k] for k in ("toolCallId", "toolName", "approvalId", "input")} == {
        "toolCallId": "c",
        "toolName": "pay",
        "approvalId": approval_id(db, "c"),
        "input": {"amount": 5},
    }
    assert (start["toolCallId"], start["toolName"], start["arguments"]) == ("a", "pick", {})
    assert submit(db, asked["toolCallId"], answer=decision(db, True, "c")).outcome == "accepted"
    assert submit(db, start["toolCallId"]).run_id is not None


def test_a_call_of_a_strange_id_is_announced_under_one_of_ours(db: Door) -> None:
    suspended(db, client("x" * 300), client(None))
    ids = [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_start"]

    assert all(each.startswith("call_") for each in ids)
    assert [submit(db, each).outcome for each in ids] == ["accepted"] * 2
