"""Stops of runs that a worker drives: by a handle, by the runtime, and by a caller who cancels."""

import asyncio
from typing import Any

import pytest

from lockgate import EntryRefused, RunHandle
from lockgate.database import Database
from tests.support.answers import continued, submitted, suspended
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage_agents import SCRIPTED

HELD = {"say": "One @hold:middle two."}
DONE = {"say": "Done."}


def held(scene: Scene, **more: Any) -> RunHandle:
    """Start a run and wait until it is in the middle of a model call."""
    run = scene.start("s1", HELD, DONE, **more)
    scene.stage.seen("waits", gate="middle")
    return run


def test_an_interrupted_run_keeps_its_text_and_can_be_resumed(driven: Scene) -> None:
    run = held(driven)
    stop = driven.run(run.interrupt("enough", wait=True))
    assert (stop.status, stop.run_id, stop.run_status) == ("stopped", run.run_id, "interrupted")
    assert driven.door.run(run.run_id).stop_reason == "enough"
    assert driven.text("s1", run.run_id) == "One "
    driven.stage.open("middle")
    again = driven.run(driven.own.resume("s1", SCRIPTED))
    assert driven.run(again.result()).status == "completed"


def test_an_aborted_run_ends_failed_and_cancelled(driven: Scene) -> None:
    run = held(driven)
    assert driven.run(driven.own.abort("s1")).status == "stopping"
    row = driven.settled(run)
    assert (row.status, row.output) == ("failed", None)
    assert row.error_detail["code"] == "framework_cancelled"
    assert driven.run(run.abort()).status == "not_running"


@case(10)
@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_handle_stops_its_own_run_and_no_later_one(driven: Scene, verb: str) -> None:
    earlier = driven.start("s1", "hi")
    driven.settled(earlier)
    later = held(driven)
    late = driven.run(getattr(earlier, verb)())
    assert (late.status, late.run_id) == ("not_running", earlier.run_id)
    driven.stage.open("middle")
    assert driven.run(later.result()).status == "completed"


def test_a_stop_of_no_session_is_refused(scene: Scene) -> None:
    for stop in (scene.own.interrupt("nobody"), scene.own.abort("nobody")):
        with pytest.raises(EntryRefused) as refused:
            scene.run(stop)
        assert refused.value.code == "state_session_not_found"


@pytest.mark.parametrize("by", ["submit", "resume"])
def test_code_of_ones_own_may_flag_a_suspended_run(driven: Scene, by: str) -> None:
    """Nothing ends at once; the run that goes on with it ends before any model call."""
    run = driven.start("s1", {"calls": [call("pick")]}, DONE)
    (pick,) = suspended(driven, run)
    before = driven.stored()
    with pytest.raises(EntryRefused) as refused:
        driven.run(driven.own.stop("interrupt", "s1"))
    assert (refused.value.code, driven.stored()) == ("validation_error", before)
    stop = driven.run(driven.own.stop("interrupt", "s1", include_suspended=True, reason="later"))
    assert (stop.status, stop.run_id) == ("stopping", run.run_id)
    assert driven.door.run(run.run_id).status == "suspended_client_tool"
    if by == "submit":
        row = continued(driven, submitted(driven, pick, result="a").run_id)
        assert (row.drive, row.status, row.stop_reason) == ("continue", "interrupted", "later")
    else:
        with pytest.raises(EntryRefused) as refused:
            driven.run(driven.own.resume("s1", SCRIPTED))
        assert refused.value.code == "state_not_resumable"
        assert driven.run(driven.start("s1", "hi").result()).status == "completed"
    assert len(driven.stage.notes("model", run=run.run_id)) == 1


# A caller's `cancelled` that is set after the commit.


def test_a_caller_who_cancels_after_the_commit_aborts_his_run(driven: Scene) -> None:
    cancelled = asyncio.Event()

    async def start_and_cancel() -> RunHandle:
        run = await driven.own.start("s1", SCRIPTED, "script: " + SCRIPT, cancelled=cancelled)
        await asyncio.to_thread(driven.stage.seen, "waits", gate="middle")
        cancelled.set()
        assert (await run.result()).status == "failed"
        return run

    row = driven.door.run(driven.run(start_and_cancel()).run_id)
    assert (row.stop_kind, row.error_detail["code"]) == ("abort", "framework_cancelled")


SCRIPT = '[{"say": "One @hold:middle two."}]'


def test_one_who_cancels_what_has_settled_changes_nothing(driven: Scene) -> None:
    cancelled = asyncio.Event()

    async def work() -> None:
        run = await driven.own.start("s1", SCRIPTED, "hi", cancelled=cancelled)
        await run.result()
        await left(driven)
        later = await driven.own.start("s1", SCRIPTED, "hi again")
        cancelled.set()
        assert (await later.result()).status == "completed"

    driven.run(work())
    assert [row.stop_kind for row in driven.door.rows("select * from lockgate_store.runs")] == [
        None,
        None,
    ]


async def left(scene: Scene) -> None:
    """Wait until the runtime watches no caller any more."""
    while scene.own._cancellable:
        await asyncio.sleep(0.01)


def test_one_who_only_found_the_run_cannot_cancel_it(driven: Scene) -> None:
    run = held(driven, request_key="k1")
    cancelled = asyncio.Event()
    found = driven.start("s1", HELD, DONE, request_key="k1", cancelled=cancelled)
    assert (found.attached, found.run_id) == (True, run.run_id)
    cancelled.set()
    driven.stage.open("middle")
    assert driven.run(run.result()).status == "completed"


def test_a_runtime_that_closes_hears_no_caller_any_more(driven: Scene) -> None:
    cancelled = asyncio.Event()
    runtime = driven.runtime()

    async def work() -> RunHandle:
        run = await runtime.start("s1", SCRIPTED, "script: " + SCRIPT, cancelled=cancelled)
        await runtime.close()
        cancelled.set()
        await asyncio.sleep(0)
        return run

    run = driven.run(work())
    driven.stage.open("middle")
    assert driven.settled(run).status == "completed"


def test_a_stop_that_cannot_be_recorded_is_logged(
    driven: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("password=hunter2")

    run = held(driven)
    monkeypatch.setattr(driven.own, "abort", broken)
    cancelled = asyncio.Event()
    cancelled.set()
    driven.run(driven.own.abort_once(cancelled, "s1", run.run_id, run.actor))
    logged = capsys.readouterr().out
    assert "abort.failed" in logged
    assert "hunter2" not in logged
    driven.stage.open("middle")
    seen(lambda: driven.door.run(run.run_id).status == "completed", "the run goes on")


@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_stop_that_is_asked_again_after_a_lost_answer_is_for_no_later_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The link asks again by itself; by then the run has ended, and another one executes."""
    first = scene.door.driven()
    later: list[Any] = []
    once = Database.call

    async def twice(self: Database, rule: Any, /, **given: Any) -> Any:
        answer: Any = await once(self, rule, **given)
        if rule.__name__ == verb:
            first.finish("stopped")
            later.append(scene.door.driven().run_id)
            answer = await once(self, rule, **given)
        return answer

    monkeypatch.setattr(Database, "call", twice)
    stop = scene.run(getattr(scene.own, verb)("s1"))

    assert stop.run_id == first.run_id
    assert scene.door.run(later[0]).stop_kind is None
