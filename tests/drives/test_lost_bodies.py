"""A body whose host dies in it is run again under the same id, but not for ever."""

import pytest

from lockgate.calls import MAX_BODIES
from tests.support.answers import results
from tests.support.proves import case
from tests.support.scene import Scene, call

DONE = {"say": "Done."}


def lost_in_a_body(scene: Scene, died_before: int, lost_before: int | None = None) -> str:
    """Start a run whose worker dies in a body, after so many that did, or that made no progress."""
    lost_before = died_before if lost_before is None else lost_before
    worker = scene.crew.worker("dies")
    worker.ready()
    run = scene.start("s1", {"calls": [call("hold", gate="body")]}, DONE)
    scene.stage.seen("waits", gate="body")
    scene.door.execute(
        "insert into lockgate_store.recoveries (session_id, run_id, attempts, deaths, next_at)"
        " values ('s1', %s, %s, %s, lockgate.now())",
        run.run_id,
        lost_before,
        died_before,
    )
    worker.kill()
    return str(run.run_id)


@case(9)
def test_a_body_that_was_lost_is_run_again(scene: Scene) -> None:
    run_id = lost_in_a_body(scene, MAX_BODIES - 2)
    scene.crew.worker("goes-on").ready()
    scene.stage.seen("waits", 2, gate="body")
    scene.stage.open("body")

    assert scene.settled(run_id).output == "Done."
    assert results(scene) == [{"success": True, "result": "passed body"}]
    dedupe = [note["dedupe"] for note in scene.stage.notes("tool", name="hold")]
    assert dedupe == [f"{run_id}:1:1"] * 2


def test_a_body_that_was_lost_too_often_is_answered_as_interrupted(scene: Scene) -> None:
    run_id = lost_in_a_body(scene, MAX_BODIES - 1)
    scene.crew.worker("goes-on").ready()

    assert scene.settled(run_id).output == "Done."
    (told,) = results(scene)
    assert (told["success"], told["reason"]) == (False, "outcome_unknown")
    assert len(scene.stage.notes("tool", name="hold")) == 1


def test_attempts_that_raised_have_ended_no_host_and_cost_no_body(scene: Scene) -> None:
    run_id = lost_in_a_body(scene, 0, MAX_BODIES)
    scene.crew.worker("goes-on").ready()
    scene.stage.seen("waits", 2, gate="body")
    scene.stage.open("body")

    assert scene.settled(run_id).output == "Done."
    assert results(scene) == [{"success": True, "result": "passed body"}]


@pytest.mark.parametrize("begun", [True, False])
def test_one_that_must_not_run_twice_is_judged_by_its_beginning_alone(
    scene: Scene, begun: bool
) -> None:
    """However often the run was lost: it is known whether such a body was begun."""
    worker = scene.crew.worker("dies")
    worker.ready()
    calls = [call("hold", gate="body"), call("once", gate="open")]
    run = scene.start("s1", {"calls": calls}, DONE)
    for gate in ("open", "body"):
        scene.stage.seen("waits", gate=gate)
    worker.kill()
    scene.stage.open("open")
    if not begun:
        scene.door.execute(
            "update lockgate_store.tool_calls set begun_at = null where tool_name = 'once'"
        )
    scene.door.execute(
        "insert into lockgate_store.recoveries (session_id, run_id, attempts, deaths, next_at)"
        " values ('s1', %s, %s, %s, lockgate.now())",
        run.run_id,
        MAX_BODIES - 1,
        MAX_BODIES - 1,
    )
    scene.crew.worker("goes-on").ready()

    assert scene.settled(run).output == "Done."
    held, once = results(scene)
    assert held["reason"] == "outcome_unknown"
    assert once["success"] is not begun
