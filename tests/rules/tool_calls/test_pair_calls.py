"""No stored history holds a call without a result: who ends a run pairs what is open."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.clock import Clock
from tests.support.door import Door, Drive, tool
from tests.support.proves import case


@pytest.fixture
def drive(db: Door) -> Drive:
    """A run with a committed step, and a second one with one of three calls answered."""
    db.beat()
    drive = db.driven()
    drive.reply(1, "", tool("done"))
    drive.result(1, 1)
    drive.step(1)
    drive.reply(2, "", tool("a"), tool("b"), tool("c"))
    drive.result(2, 2, result="found")
    return drive


def pairing(db: Door) -> list[tuple[str, Any]]:
    """Return the last tool message as ids and what stands for their results."""
    message = [m for m in db.messages() if m.role == "tool"][-1]
    assert message.step == 2
    return [(p["toolCallId"], p.get("result") or p["reason"]) for p in message.content]


@case(13)
@pytest.mark.parametrize("status", ["completed", "failed", "stopped"])
def test_an_end_pairs_as_stopped_and_keeps_the_answers(db: Door, drive: Drive, status: str) -> None:
    db.start(say="x", concurrent_entry="interrupt_previous")
    drive.finish(status)

    assert pairing(db) == [("a", "run_stopped"), ("b", "found"), ("c", "run_stopped")]


def test_a_supersede_pairs_a_server_call_as_stopped(db: Door, drive: Drive, clock: Clock) -> None:
    clock.forward(seconds=60)
    assert db.start(say="x").outcome == "started"

    assert pairing(db) == [("a", "run_stopped"), ("b", "found"), ("c", "run_stopped")]


def test_a_supersede_pairs_what_a_client_owes_as_abandoned(
    db: Door, drive: Drive, clock: Clock
) -> None:
    db.execute("update lockgate_store.tool_calls set kind = 'client'")
    clock.forward(seconds=60)
    assert db.start(say="x").outcome == "started"

    assert pairing(db) == [
        ("a", "client_tool_abandoned"),
        ("b", "found"),
        ("c", "client_tool_abandoned"),
    ]


def test_a_partial_reply_comes_before_the_pairing(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("a"))
    drive.finish("failed", partial=Jsonb([{"type": "text", "text": "Hel"}]))

    assert [m.role for m in db.messages()] == ["user", "assistant", "assistant", "tool"]


def test_an_exhausted_budget_pairs_too(db: Door, drive: Drive) -> None:
    answer = db.requeue(drive.run_id, "raised", max_attempts=1)

    assert answer.run_status == "failed"
    assert pairing(db) == [("a", "run_stopped"), ("b", "found"), ("c", "run_stopped")]


def test_a_cancelled_workflow_pairs_too(db: Door, drive: Drive) -> None:
    db.set_workflow(drive.run_id, status="CANCELLED")
    db.requeue(drive.run_id, "closed_owner")

    assert pairing(db)[0] == ("a", "run_stopped")


def test_a_run_without_open_calls_gets_no_message(db: Door) -> None:
    db.finished()

    assert [m.role for m in db.messages()] == ["user", "assistant"]
