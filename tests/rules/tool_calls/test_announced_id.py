"""The id under which clients see a call: the model's own where it will do, and unique."""

from typing import Any

import pytest

from tests.support.door import Door, tool
from tests.support.proves import case


def ids(answer: Any) -> list[str]:
    return [call["toolCallId"] for call in answer.calls]


def test_a_repeated_id_gets_the_smallest_free_number(db: Door) -> None:
    drive = db.driven()
    answer = drive.reply(1, "", tool("x"), tool("x"), tool("x_2"), tool("x"))

    assert ids(answer) == ["x", "x_2", "x_2_2", "x_3"]


def test_an_id_is_new_across_the_runs_of_its_session_and_free_in_another(db: Door) -> None:
    first = db.driven("s1")
    first.reply(1, "", tool("x"))
    first.finish()
    second = db.driven("s1", "more")
    other = db.driven("s2")

    assert ids(second.reply(1, "", tool("x"))) == ["x_2"]
    assert ids(other.reply(1, "", tool("x"))) == ["x"]


@case(48)
@pytest.mark.parametrize(
    "model_id", [None, "", "a" * 257, "a\nb", "a\x7fb", "é" * 3000, "z" * 10_000]
)
def test_an_id_that_will_not_do_is_replaced_by_one_of_ours(db: Door, model_id: str | None) -> None:
    drive = db.driven()
    answer = drive.reply(1, "", tool("x"), tool(model_id))
    drive.result(1, 1)
    drive.result(1, 2, result="found")
    drive.step(1)
    *_, message = db.messages()

    assert ids(answer)[1] == f"call_{drive.run_id.hex}_1_2"
    assert message.content[1]["toolCallId"] == ids(answer)[1]
    assert message.content[1]["result"] == "found"


def test_the_longest_id_that_will_do_is_kept_also_when_repeated(db: Door) -> None:
    drive = db.driven()
    long = "é" * 256

    assert ids(drive.reply(1, "", tool(long), tool(long))) == [long, long + "_2"]


def test_history_and_stream_and_row_use_the_announced_id(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("x"), tool("x"))
    starts = [c["toolCallId"] for c in db.chunks()]
    parts = [part["toolCallId"] for part in db.messages()[1].content]

    assert starts == parts == [c.tool_call_id for c in db.calls(drive.run_id)] == ["x", "x_2"]
    assert [c.model_call_id for c in db.calls(drive.run_id)] == ["x", "x"]
