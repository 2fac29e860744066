"""A paused session that waits for nothing any more, and that nobody continued, is continued."""

import pytest

import lockgate.recovery
from tests.drives.test_children import DONE, begin, brings, helps, is_over, results
from tests.support.answers import suspended
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.suspensions import forget_to_continue


def look_often() -> None:
    """Make a process ask at each sweep what is paused for nothing."""
    lockgate.recovery.PAUSED_EVERY_S = 0.0


@pytest.fixture
def swept(scene: Scene) -> Scene:
    """A scene in which one worker drives, and looks at what is paused."""
    scene.crew.worker(prepare=look_often).ready()
    scene.listened_to(1)
    return scene


def test_a_batch_whose_last_answer_started_nothing_goes_on(swept: Scene) -> None:
    run = swept.start("s1", {"calls": [call("pick"), call("add", a=1, b=2)]}, DONE)
    assert len(suspended(swept, run)) == 1
    forget_to_continue(swept.door, run.run_id)

    assert is_over(swept).output == "All is known."
    assert results(swept) == ["forgotten", 3]
    assert swept.settlements(run.run_id) == ["suspended_client_tool"]
    assert len(swept.stage.notes("model")) == 2


def test_a_parent_whose_sub_agents_end_was_told_to_nobody_goes_on(swept: Scene) -> None:
    begin(swept, "s1", helps({"say": "@hold:ever"}, brings(1)))
    swept.stage.seen("waits", gate="ever")
    seen(lambda: swept.door.session("s1").status == "paused", "it waits")
    swept.door.execute(
        "update lockgate_store.children set status = 'completed', output = '\"found\"',"
        " ended_at = lockgate.now() where session_id = 's1'"
    )

    assert is_over(swept).output == "All is known."
    assert results(swept) == ["found"]
    swept.stage.open("ever")
    run = swept.door.session("s1").current_run_id
    (child,) = swept.door.call_many("list_children", session_id="s1")
    seen(lambda: swept.door.session(child.child_session_id).status != "active", "the child ends")
    assert swept.door.session("s1").current_run_id == run


def test_what_still_waits_is_left_alone(swept: Scene) -> None:
    waits = swept.start("s1", {"calls": [call("pick")]}, DONE)
    forgotten = swept.start("s2", {"calls": [call("pick")]}, DONE)
    suspended(swept, waits)
    suspended(swept, forgotten)
    forget_to_continue(swept.door, forgotten.run_id)
    is_over(swept, "s2")
    assert swept.door.session("s1").status == "paused"
    assert swept.door.run(waits.run_id).status == "suspended_client_tool"
