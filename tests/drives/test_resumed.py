"""Runs that go on: resume and retry, driven to their end by a worker."""

from typing import Any

import pytest

from lockgate import Continue, EntryRefused, FromCheckpoint, RequestKeyConflict, WithMessage
from lockgate.requests import ResumeOptions
from tests.support.scene import Scene, call, said
from tests.support.stage_agents import SCRIPTED

ADD = {"calls": [call("add", a=1, b=2)]}
HELD = {"say": "So far @hold:middle so good."}


def interrupt(scene: Scene, run_id: Any) -> None:
    """Ask a run to stop, and wait until it has."""
    scene.door.execute(
        "select lockgate.record_stop(r, 'interrupt', 'user') from lockgate_store.runs r"
        " where r.run_id = %s",
        run_id,
    )
    assert scene.settled(run_id).status == "interrupted"


def resumed(scene: Scene, options: ResumeOptions, **more: Any) -> Any:
    return scene.run(scene.own.resume("s1", SCRIPTED, options, **more))


def retried(scene: Scene, **more: Any) -> Any:
    return scene.run(scene.own.retry("s1", SCRIPTED, **more))


def texts(scene: Scene) -> list[tuple[str, str]]:
    """Return who said what: texts only, in the order of the history."""
    return [
        (message.role, part["text"])
        for message in scene.door.messages()
        for part in message.content
        if part["type"] == "text"
    ]


@pytest.fixture
def halted(driven: Scene) -> Scene:
    """A session whose run was interrupted in its second step."""
    run = driven.start("s1", ADD, HELD, {"say": "And on."})
    driven.stage.seen("waits", gate="middle")
    interrupt(driven, run.run_id)
    driven.stage.open("middle")
    return driven


def test_an_interrupted_run_goes_on_where_it_stood(halted: Scene) -> None:
    run = resumed(halted, Continue())
    row = halted.settled(run)
    assert (row.status, row.drive, row.output) == ("completed", "resume", "And on.")
    assert [role for role, _ in texts(halted)] == ["user", "assistant", "assistant"]
    assert halted.run(run.result()).output == "And on."
    assert len(halted.stage.notes("tool")) == 1, "what is committed is not done again"
    told = halted.stage.notes("after_entry", run=run.run_id)
    assert [note["drive"] for note in told] == ["resume"]


def test_a_run_goes_on_with_a_message(halted: Scene) -> None:
    run = resumed(halted, WithMessage(said({"say": "Otherwise."})), request_key="k1")
    assert halted.settled(run).output == "Otherwise."
    again = resumed(halted, WithMessage(said({"say": "Otherwise."})), request_key="k1")
    assert (again.attached, again.run_id) == (True, run.run_id)
    with pytest.raises(RequestKeyConflict):
        resumed(halted, WithMessage("Something else."), request_key="k1")
    assert [role for role, _ in texts(halted)] == ["user", "assistant", "user", "assistant"]


def test_a_run_goes_back_to_a_checkpoint(driven: Scene) -> None:
    first = driven.start("s1", {"say": "One."}, state={"n": 1})
    driven.settled(first)
    second = driven.start("s1", ADD, HELD, state={"n": 2})
    driven.stage.seen("waits", gate="middle")
    interrupt(driven, second.run_id)
    driven.stage.open("middle")
    run = resumed(driven, FromCheckpoint(f"{first.run_id}:1"))
    row = driven.settled(run)
    assert (row.status, row.drive) == ("completed", "resume")
    assert driven.door.session("s1").state == {"n": 1}
    assert [role for role, _ in texts(driven)][:2] == ["user", "assistant"]


def test_a_failed_run_is_tried_again_from_its_last_step(driven: Scene) -> None:
    failed = driven.start("s1", ADD, {"fail": {"message": "No."}})
    assert driven.settled(failed).status == "failed"
    again = retried(driven)
    row = driven.settled(again)
    assert (row.drive, row.status, row.error_detail["message"]) == ("retry", "failed", "No.")
    assert len(driven.stage.notes("tool")) == 1
    assert [n["drive"] for n in driven.stage.notes("after_entry", run=again.run_id)] == ["retry"]
    assert [role for role, _ in texts(driven)] == ["user"]


def test_a_retry_with_a_message_brings_it_once(driven: Scene) -> None:
    driven.settled(driven.start("s1", ADD, {"fail": {"message": "No."}}))
    better = said({"say": "Yes."})
    runs = [retried(driven, message=better, request_key="k1") for _ in range(3)]
    assert {run.run_id for run in runs} == {runs[0].run_id}
    assert [run.attached for run in runs] == [False, True, True]
    assert driven.settled(runs[0]).output == "Yes."
    assert texts(driven)[1:] == [("user", better), ("assistant", "Yes.")]


def test_what_is_over_is_refused_typed(driven: Scene) -> None:
    run = driven.start("s1", {"say": "Done."})
    driven.settled(run)
    before = driven.stored()
    with pytest.raises(EntryRefused) as resume:
        resumed(driven, Continue())
    with pytest.raises(EntryRefused) as retry:
        retried(driven)
    assert driven.stored() == before
    for refused in (resume.value, retry.value):
        assert (refused.code, refused.retryable) == ("state_not_resumable", False)
        assert refused.detail == {"sessionStatus": "completed", "awaitingToolCallIds": []}


def test_a_resume_may_interrupt_what_executes(driven: Scene) -> None:
    first = driven.start("s1", HELD, {"say": "And on."})
    driven.stage.seen("waits", gate="middle")
    last_wins = driven.runtime(concurrent_entry="interrupt_previous")
    run = driven.run(last_wins.resume("s1", SCRIPTED, WithMessage(said({"say": "Instead."}))))
    row = driven.door.run(first.run_id)
    assert (row.status, row.stop_reason) == ("interrupted", "superseded_by_new_entry")
    row = driven.settled(run)
    assert (row.drive, row.output) == ("resume", "Instead.")


def test_the_factory_is_told_the_drive(scene: Scene) -> None:
    drive = scene.door.driven("s1", agent_type="factory")
    drive.finish("failed", error_detail={"message": "m"})
    runtime = scene.runtime()
    with pytest.raises(EntryRefused) as failed:
        scene.run(runtime.retry("s1", "factory"))
    assert failed.value.code == "framework_agent_resolution_failed"
    assert [(n["purpose"], n["drive"]) for n in scene.stage.notes("factory")] == [
        ("drive", "retry")
    ]
    assert scene.door.session("s1").status == "failed"
    assert scene.door.session("s1").error_detail == {"message": "m"}
