"""What a rewind cuts, and that no history ends in a call without its result.

Only a store client names a count of messages; a checkpoint never lies between call and result.
"""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door, tool
from tests.support.standings import answered, stepped
from tests.support.store_client import StoreClient


def cut(db: Door, keep: int, **more: Any) -> Any:
    answer = StoreClient(db).start(drive="resume", keep_messages=keep, **more)
    assert answer.outcome == "started", answer
    return answer


def shape(db: Door) -> list[tuple[str, list[str]]]:
    """Return each message's role and the ids of its calls and results."""
    return [
        (message.role, [part["toolCallId"] for part in message.content if "toolCallId" in part])
        for message in db.messages()
    ]


def test_messages_and_checkpoints_behind_the_cut_are_gone(db: Door) -> None:
    drive = stepped(db)
    drive.reply(2, "more")
    drive.finish()
    cut(db, 3)

    assert [m.seq for m in db.messages()] == [1, 2, 3]
    assert db.session().message_count == 3
    assert [c.step for c in db.rows("select step from lockgate_store.checkpoints")] == [1]


def test_the_result_of_a_call_at_the_cut_is_written_again(db: Door) -> None:
    drive = stepped(db)
    result = db.messages()[2].content
    drive.finish()
    cut(db, 2, messages='"and now?"')

    assert shape(db) == [
        ("user", []),
        ("assistant", ["call-1"]),
        ("tool", ["call-1"]),
        ("user", []),
    ]
    written = db.messages()[2]
    assert (written.content, written.run_id, written.step) == (result, drive.run_id, 1)
    assert db.session().message_count == 4


def test_a_reply_cut_off_after_its_calls_does_not_hide_them(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("call-1"), tool("call-2"))
    drive.result(1, 2)
    drive.finish("failed", partial=Jsonb([{"type": "text", "text": "Hel"}]))
    cut(db, 3)

    assert shape(db)[-1] == ("tool", ["call-1", "call-2"])
    assert [part.get("reason") for part in db.messages()[-1].content] == ["run_stopped", None]


def test_open_calls_of_the_run_that_is_replaced_have_one_result(db: Door) -> None:
    """The start pairs them at the end of the history first, and the cut takes that away."""
    suspended = answered(db)
    before = shape(db)
    cut(db, len(before))

    assert shape(db) == [*before, ("tool", ["call-b", "call-c"])]
    assert {call.status for call in db.calls(suspended)} == {"consumed"}


@pytest.mark.parametrize("keep", range(8))
def test_wherever_the_cut_falls_each_call_has_its_result(db: Door, keep: int) -> None:
    drive = stepped(db)
    drive.reply(2, "", tool("call-2"), tool("call-3"))
    drive.result(2, 1)
    drive.step(1)
    drive.finish()
    later = db.driven(say="more")
    later.reply(1, "done")
    later.finish()
    assert len(shape(db)) == 7
    cut(db, keep)
    calls = {name for role, names in shape(db) if role == "assistant" for name in names}

    assert sorted(calls) == sorted(
        name for role, names in shape(db) if role == "tool" for name in names
    )
    assert db.session().message_count == keep + (keep in (2, 4))


def test_two_cuts_in_a_row_leave_one_result(db: Door) -> None:
    drive = stepped(db)
    drive.finish()
    cut(db, 2, messages='"once"')
    cut(db, 2, messages='"twice"')

    assert [role for role, _ in shape(db)] == ["user", "assistant", "tool", "user"]
    assert db.messages()[-1].content[0]["text"] == "twice"


def test_all_may_be_cut_and_more_than_all_is_refused(db: Door) -> None:
    stepped(db).finish()
    with db.nothing_written():
        refused = StoreClient(db).start(drive="resume", keep_messages=4)
    cut(db, 0, messages='"anew"')

    assert (refused.outcome, refused.detail) == ("invalid_request", {"field": "keepMessages"})
    assert shape(db) == [("user", [])]
    assert db.rows("select * from lockgate_store.checkpoints") == []


def test_an_announced_id_is_never_given_twice_even_when_its_call_is_cut(db: Door) -> None:
    stepped(db).finish()
    started = cut(db, 1)
    again = db.drive(started.run_id)
    answer = again.reply(1, "", tool("call-1"))

    assert [call["toolCallId"] for call in answer.calls] == ["call-1_2"]
