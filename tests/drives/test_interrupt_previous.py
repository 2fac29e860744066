"""The policy interrupt_previous: the last message wins, and what was said so far is kept."""

import asyncio
from typing import Any

import pytest

from lockgate import EntryRefused, RunHandle, Runtime
from tests.support.scene import Scene, call, said
from tests.support.stage_agents import SCRIPTED

HELD = {"say": "So far so good, @hold:never and more."}


def start(scene: Scene, runtime: Runtime, *turns: Any, **more: Any) -> RunHandle:
    return scene.run(runtime.start("s1", SCRIPTED, said(*turns), **more))


@pytest.fixture
def last_wins(driven: Scene) -> Runtime:
    """A runtime under which a new entry interrupts the run that executes."""
    return driven.runtime(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=10_000)


def test_the_second_start_interrupts_the_first_and_its_partial_reply_is_kept(
    driven: Scene, last_wins: Runtime
) -> None:
    first = start(driven, last_wins, HELD)
    driven.stage.seen("waits", gate="never")
    second = start(driven, last_wins, {"say": "Never mind."}, request_key="k2")

    row = driven.door.run(first.run_id)
    assert (row.status, row.stop_kind, row.stop_reason) == (
        "interrupted",
        "interrupt",
        "superseded_by_new_entry",
    )
    assert driven.settlements(first.run_id) == ["interrupted"]
    assert driven.settled(second).output == "Never mind."
    said_by = [(m.role, m.content[0]["text"]) for m in driven.door.messages()]
    assert [text for role, text in said_by if role == "assistant"] == [
        "So far so good, ",
        "Never mind.",
    ]
    assert driven.run(first.result()).status == "interrupted"


def test_a_run_is_interrupted_between_its_tools_and_its_calls_are_paired(
    driven: Scene, last_wins: Runtime
) -> None:
    start(driven, last_wins, {"calls": [call("add", a=1, b=2), call("hold", gate="never")]})
    driven.stage.seen("waits", gate="never")
    second = start(driven, last_wins, {"say": "Never mind."})

    assert driven.settled(second).status == "completed"
    results = driven.door.messages()[2].content
    assert [part["success"] for part in results] == [True, False]
    assert results[1]["reason"] == "run_stopped"
    assert driven.stage.notes("tool ended") == []


def test_three_entries_at_once_leave_one_running_and_none_lost_silently(
    driven: Scene, last_wins: Runtime
) -> None:
    start(driven, last_wins, HELD)
    driven.stage.seen("waits", gate="never")

    async def all_at_once() -> list[Any]:
        entries = (last_wins.start("s1", SCRIPTED, said({"say": f"{n}."})) for n in range(3))
        return await asyncio.gather(*entries, return_exceptions=True)

    answers = driven.run(all_at_once())
    refused = [answer for answer in answers if isinstance(answer, EntryRefused)]
    assert {error.code for error in refused} <= {"state_already_running"}
    assert all(error.retryable for error in refused)
    runs = [answer for answer in answers if isinstance(answer, RunHandle)]
    assert runs
    for run in runs:
        assert driven.settled(run).status in ("completed", "interrupted")
    texts = [m.content[0]["text"] for m in driven.door.messages() if m.role == "user"]
    assert len(texts) == 1 + len(runs)


def test_a_run_that_does_not_settle_in_time_keeps_its_stop_and_the_entry_is_refused(
    scene: Scene,
) -> None:
    """A frozen worker's run executes for as long as its lease says so."""
    worker = scene.crew.worker(lease_ms=60_000)
    worker.ready()
    hasty = scene.runtime(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=300)
    first = start(scene, hasty, HELD)
    scene.stage.seen("waits", gate="never")
    worker.freeze()
    with pytest.raises(EntryRefused) as refused:
        start(scene, hasty, {"say": "Too soon."}, request_key="k2")
    assert (refused.value.code, refused.value.retryable) == ("state_already_running", True)
    row = scene.door.run(first.run_id)
    assert (row.status, row.stop_kind) == ("running", "interrupt")
    assert [m.role for m in scene.door.messages()] == ["user"]
    worker.thaw()
    assert scene.settled(first).status == "interrupted"
    again = start(scene, hasty, {"say": "Now."}, request_key="k2")
    assert (again.attached, scene.settled(again).output) == (False, "Now.")


def test_a_stop_that_its_worker_did_not_live_to_honour_ends_the_run_all_the_same(
    scene: Scene,
) -> None:
    worker = scene.crew.worker("dies", lease_ms=5_000)
    worker.ready()
    hasty = scene.runtime(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=1)
    first = start(scene, hasty, {"calls": [call("hold", gate="never")]})
    scene.stage.seen("waits", gate="never")
    worker.freeze()
    with pytest.raises(EntryRefused):
        start(scene, hasty, {"say": "Too soon."})
    worker.kill()
    scene.crew.worker("sweeps").ready()
    assert scene.settled(first).status == "interrupted"
    assert len(scene.stage.notes("model")) == len(scene.stage.notes("tool")) == 1
    (result,) = scene.door.messages()[2].content
    assert (result["success"], result["reason"]) == (False, "run_stopped")


def test_under_reject_the_second_start_is_refused_and_the_first_runs_on(driven: Scene) -> None:
    first = driven.start("s1", HELD)
    driven.stage.seen("waits", gate="never")
    with pytest.raises(EntryRefused) as refused:
        driven.start("s1", {"say": "Not now."})
    assert (refused.value.code, refused.value.retryable) == ("state_already_running", True)
    driven.stage.open("never")
    assert driven.settled(first).output == "So far so good, and more."
