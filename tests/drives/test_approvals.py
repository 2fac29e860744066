"""Calls that wait for a person's word: what was approved is exactly what runs, and once."""

from uuid import UUID

import pytest

from tests.support.answers import continued, pending, results, submitted, suspended
from tests.support.crashes import Crash
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

PAY = call("pay", amount=5, to="you")
DONE = {"say": "It is settled."}


def bodies(scene: Scene, name: str) -> list[str]:
    return [note["dedupe"] for note in scene.stage.notes("tool", name=name)]


def test_an_approved_call_runs_its_body_in_the_run_that_goes_on(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PAY, call("pick"), call("add", a=1, b=2)]}, DONE)
    pay, pick = suspended(driven, run)
    asked = [each for each in driven.door.chunks() if each["type"] == "tool_approval_request"]
    assert [(each["toolCallId"], each["input"]) for each in asked] == [
        (pay, {"amount": 5, "to": "you"})
    ]
    assert bodies(driven, "pay") == []
    submitted(driven, pay, approved=True)
    row = continued(driven, submitted(driven, pick, result="b").run_id)

    assert (row.status, row.output, row.step_count) == ("completed", "It is settled.", 2)
    assert bodies(driven, "pay") == [f"{row.run_id}:1:1"]
    assert results(driven) == [
        {"success": True, "result": "paid 5 to you"},
        {"success": True, "result": "b"},
        {"success": True, "result": 3},
    ]


def test_a_denied_call_runs_nothing_and_the_model_is_told_why(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PAY]}, DONE)
    (pay,) = suspended(driven, run)
    row = continued(driven, submitted(driven, pay, approved=False, reason="too much").run_id)
    assert row.output == "It is settled."
    assert bodies(driven, "pay") == []
    (told,) = results(driven)
    assert (told["success"], told["denied"], told["reason"]) == (False, True, "too much")
    (shown,) = driven.stage.notes("model")[-1]["last"]
    assert shown["error"] == "Denied: too much"


def test_one_approved_and_one_denied(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PAY, PAY, call("mail", to="me")]}, DONE)
    first, second, mail = suspended(driven, run)
    submitted(driven, second, approved=False)
    submitted(driven, mail, approved=True)
    row = continued(driven, submitted(driven, first, approved=True).run_id)
    assert row.status == "completed"
    assert [each["success"] for each in results(driven)] == [True, False, True]
    assert (len(bodies(driven, "pay")), len(bodies(driven, "mail"))) == (1, 1)


@pytest.mark.parametrize(("amount", "asks"), [(100, False), (101, True), (-1, True)])
def test_a_function_says_which_calls_ask(driven: Scene, amount: int, asks: bool) -> None:
    """One that raises asks: what is in doubt is not run on its own."""
    run = driven.start("s1", {"calls": [call("spend", amount=amount)]}, DONE)
    if not asks:
        assert driven.settled(run).output == "It is settled."
        assert len(bodies(driven, "spend")) == 1
        return
    (spend,) = suspended(driven, run)
    assert bodies(driven, "spend") == []
    continued(driven, submitted(driven, spend, approved=True).run_id)
    assert results(driven) == [{"success": True, "result": f"spent {amount}"}]
    assert len(driven.stage.notes("asked")) == 1, "it was asked once, before the reply was saved"


def test_unusable_arguments_ask_nobody(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pay", amount="much", to="you")]}, DONE)
    assert driven.settled(run).output == "It is settled."
    assert results(driven)[0]["code"] == "validation_error"


def workflow_is_closed(scene: Scene, run_id: UUID) -> bool:
    return bool(scene.door.workflow(scene.door.run(run_id).drive_id).status == "SUCCESS")


def test_a_body_that_must_not_run_twice_is_answered_as_interrupted(scene: Scene) -> None:
    scene.crew.worker("asks").ready()
    scene.listened_to(1)
    run = scene.start("s1", {"calls": [call("once", gate="never")]}, DONE)
    lost = scene.stage.seen("waits", gate="never")[0]["pid"]
    assert scene.door.calls(run.run_id)[0].begun_at is not None
    scene.crew.close()
    scene.crew.worker("takes-over").ready()
    row = scene.settled(run)
    assert (row.status, row.output) == ("completed", "It is settled.")
    (told,) = results(scene)
    assert (told["success"], told["reason"]) == (False, "outcome_unknown")
    assert [note["pid"] for note in scene.stage.notes("tool", name="once")] == [lost]


@case(9)
@pytest.mark.parametrize("tool", ["pay", "mail"])
def test_a_crash_around_an_approved_body_follows_its_replay_policy(scene: Scene, tool: str) -> None:
    """Killed after each commit of the run that goes on, until none is hit."""
    given = PAY if tool == "pay" else call("mail", to="me")
    for n in range(1, 12):
        session = f"s{n}"
        scene.crew.worker(f"asks-{n}").ready()
        run = scene.start(session, {"calls": [given]}, DONE)
        suspended(scene, run)
        scene.crew.close()
        (waiting,) = pending(scene, run.run_id)
        told = submitted(scene, waiting.tool_call_id, session, approved=True)
        dies = scene.crew.worker(f"dies-{n}", crash=Crash(after=n), sweep_every_s=600)
        run_id = told.run_id
        seen(lambda: dies.has_ended or workflow_is_closed(scene, run_id), session)  # noqa: B023
        if not dies.has_ended:
            break
        scene.crew.close()
        where = [note["rule"] for note in scene.stage.notes("commit", pid=dies.pid)]
        scene.crew.worker(f"takes-over-{n}").ready()
        row = continued(scene, told.run_id)
        assert (row.status, row.output) == ("completed", "It is settled."), where
        ran = [x for x in bodies(scene, tool) if x.startswith(str(told.run_id))]
        (result,) = results(scene, session)
        if tool == "pay":
            assert len(ran) <= 1, where
            assert result["success"] or result["reason"] == "outcome_unknown"
            assert result["success"] is (where[-1] != "begin_call"), where
        else:
            assert result == {"success": True, "result": "mailed me"}
            assert set(ran) == {f"{told.run_id}:1:1"}
        scene.crew.close()
    else:
        raise AssertionError("the row of crashes did not end")
    assert n > 4
