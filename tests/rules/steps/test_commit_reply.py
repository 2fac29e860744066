"""lockgate.commit_reply: what the model said is saved before any tool runs."""

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door, texts_as_chunks, tool
from tests.support.proves import case, proves
from tests.support.suspensions import approval, client, subagent


@proves("commit_reply.saved")
def test_a_reply_without_calls_commits_the_step(db: Door) -> None:
    drive = db.driven()
    drive.append("Hel")
    answer = drive.reply(1, "Hello", chunks=texts_as_chunks(["lo"]))
    _, message = db.messages()
    (checkpoint,) = db.rows("select * from lockgate_store.checkpoints")

    assert (answer.outcome, answer.head_sequence, answer.stop_kind) == ("saved", 3, None)
    assert (message.role, message.step, message.run_id) == ("assistant", 1, drive.run_id)
    assert message.content == [{"type": "text", "text": "Hello"}]
    assert (db.run(drive.run_id).step_count, db.session().message_count) == (1, 2)
    assert (checkpoint.turn, checkpoint.step, checkpoint.message_count) == (1, 1, 2)
    assert checkpoint.state is None
    assert [c.get("delta") or c["type"] for c in db.chunks()] == ["Hel", "lo", "step_committed"]
    assert db.stream().committed_sequence == 3


@proves("commit_reply.saved")
@case(9)
def test_a_reply_with_calls_saves_and_announces_them_and_leaves_the_step_open(db: Door) -> None:
    drive = db.driven()
    answer = drive.reply(1, "let me look", tool("call-a", q="x"), tool("call-b", "send", to="y"))
    _, message = db.messages()
    starts = db.chunks()

    assert [(c["ordinal"], c["toolCallId"], c["status"]) for c in answer.calls] == [
        (1, "call-a", "pending"),
        (2, "call-b", "pending"),
    ]
    assert [part["type"] for part in message.content] == ["text", "tool_call", "tool_call"]
    assert message.content[1] == {
        "type": "tool_call",
        "toolCallId": "call-a",
        "toolName": "look_up",
        "input": {"q": "x"},
    }
    assert [(c["type"], c["toolCallId"], c["step"]) for c in starts] == [
        ("tool_start", "call-a", 1),
        ("tool_start", "call-b", 1),
    ]
    assert starts[1]["arguments"] == {"to": "y"}
    assert (db.run(drive.run_id).step_count, db.session().message_count) == (0, 2)
    assert db.stream().committed_sequence == db.stream().head_sequence == 2
    assert db.rows("select * from lockgate_store.checkpoints") == []


@proves("commit_reply.repeated")
def test_a_reply_whose_answer_was_lost_is_saved_once(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "let me look", tool())
    with db.nothing_written():
        again = drive.reply(1, "let me look", tool())
    drive.result(1, 1)
    drive.step(1)
    drive.reply(2, "done")
    with db.nothing_written():
        committed = drive.reply(2, "done")
        older = drive.reply(1, "let me look", tool())

    assert (again.outcome, [c["toolCallId"] for c in again.calls]) == ("repeated", ["call-a"])
    assert (committed.outcome, older.outcome) == ("repeated", "repeated")
    assert [m.role for m in db.messages()] == ["user", "assistant", "tool", "assistant"]


@proves("commit_reply.fenced")
@case(3)
def test_a_reply_of_a_lost_attempt_is_fenced(db: Door) -> None:
    lost = db.driven()
    db.requeue(lost.run_id, "raised")
    with db.nothing_written():
        waiting = lost.reply(1, "late")
    mine = db.drive(lost.run_id, worker_id="worker-2")
    with db.nothing_written():
        claimed = lost.reply(1, "late")

    assert (waiting.outcome, claimed.outcome) == ("fenced", "fenced")
    assert (claimed.head_sequence, claimed.calls) == (None, None)
    assert mine.reply(1, "in time").outcome == "saved"


def test_each_commit_says_that_a_stop_stands(db: Door) -> None:
    db.beat()
    drive = db.driven()
    db.start(say="instead", concurrent_entry="interrupt_previous")

    assert drive.append("text").stop_kind == "interrupt"
    assert drive.reply(1, "", tool()).stop_kind == "interrupt"
    assert drive.result(1, 1).stop_kind == "interrupt"
    assert drive.step(1).stop_kind == "interrupt"


def test_a_reply_of_calls_alone_is_a_message_of_calls_alone(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool())

    assert [part["type"] for part in db.messages()[1].content] == ["tool_call"]


def test_a_committed_step_gives_the_crash_loop_budget_anew(db: Door) -> None:
    drive = db.driven()
    db.requeue(drive.run_id, "raised", failure=Jsonb({"message": "boom"}))
    again = db.drive(drive.run_id)
    assert db.row("select * from lockgate_store.recoveries").attempts == 1
    again.reply(1, "", tool())
    assert len(db.rows("select * from lockgate_store.recoveries")) == 1
    again.result(1, 1)
    again.step(1)

    assert db.rows("select * from lockgate_store.recoveries") == []


# Who is to answer a call, and what a step has used.


def test_only_what_the_drive_goes_on_with_is_announced_by_the_reply(db: Door) -> None:
    drive = db.driven()
    answer = drive.reply(1, "", tool("a"), client("b"), approval("c"), subagent("d"))
    calls = db.calls(drive.run_id)

    assert [(c["toolCallId"], c["kind"]) for c in answer.calls] == [
        ("a", "server"),
        ("b", "client"),
        ("c", "approval"),
        ("d", "subagent"),
    ]
    assert [c["toolCallId"] for c in db.chunks() if c["type"] == "tool_start"] == ["a", "d"]
    assert [part["type"] for part in db.messages()[1].content] == ["tool_call"] * 4
    assert [c.approval_id is not None for c in calls] == [False, False, True, False]
    assert answer.calls[2]["approvalId"] == calls[2].approval_id
    assert {c.approved for c in calls} == {None}


def test_retention_and_root_are_fixed_when_a_call_is_registered(db: Door) -> None:
    db.create_session("root")
    drive = db.driven("child", parent_session_id="root", root_session_id="root")
    drive.reply(1, "", client("a", retentionMs=0), client("b", retentionMs=5000), client("c"))

    assert [(c.retention_ms, c.root_session_id) for c in db.calls(drive.run_id)] == [
        (0, "root"),
        (5000, "root"),
        (None, "root"),
    ]


@pytest.mark.parametrize(
    "flaw",
    [
        {"kind": "other"},
        {"kind": None},
        {"kind": 7},
        {"kind": ["client"]},
        {"kind": "client", "retentionMs": -1},
        {"kind": "client", "retentionMs": "1000"},
        {"kind": "client", "retentionMs": [5]},
        {"kind": "client", "retentionMs": None},
        {"kind": "client", "retentionMs": 0.5},
        {"kind": "client", "retentionMs": 1e30},
    ],
)
def test_a_call_that_is_not_of_the_form_breaks_a_promise(db: Door, flaw: dict[str, object]) -> None:
    drive = db.driven()
    with db.nothing_written(), pytest.raises(psycopg.DatabaseError) as broken:
        drive.reply(1, "", {**tool("a"), **flaw})

    assert broken.value.sqlstate == "LG002"


TOKENS = {"kind": "tokens", "source": "agent", "model": "m", "tokens": {"prompt": 3}}


def test_usage_is_there_exactly_when_the_reply_is(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "hello", usage=Jsonb([TOKENS]))
    with db.nothing_written():
        drive.reply(1, "hello", usage=Jsonb([TOKENS]))
    drive.finish()
    with db.nothing_written():
        drive.reply(2, "late", usage=Jsonb([TOKENS]))
    (entry,) = db.rows("select * from lockgate_store.usage")

    assert (entry.run_id, entry.step, entry.kind, entry.source) == (
        drive.run_id,
        1,
        "tokens",
        "agent",
    )
    assert entry.detail == {"model": "m", "tokens": {"prompt": 3}}
