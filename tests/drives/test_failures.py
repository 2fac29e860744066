"""A failure that may pass hands the run to its next attempt; its budget ends that."""

from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.stage_agents import SECRET


@case(20)
def test_a_failure_that_nobody_knows_is_tried_again_and_is_the_cause_in_the_end(
    scene: Scene,
) -> None:
    scene.crew.worker(max_attempts=2).ready()
    run = scene.start("s1", {"calls": [call("add", a=1, b=2)]}, {"say": "Half @raise:odd it"})
    row = scene.settled(run)

    assert (row.status, row.error_detail["code"]) == ("failed", "framework_auto_resume_exhausted")
    assert row.error_detail["retryable"] is True
    assert row.error_detail["cause"]["message"] == "odd"
    assert [note["step"] for note in scene.stage.notes("model")] == [1, 2, 2]
    assert len(scene.stage.notes("tool")) == 1, "what is committed is not done again"
    assert [n["drive"] for n in scene.stage.notes("after_entry")] == ["start", "recover"]
    assert scene.settlements(run.run_id) == ["failed"]
    assert scene.door.stream("s1").status == "failed"
    again = scene.start("s1", "no script")
    assert scene.door.run(again.run_id).turn == 2


def test_an_agent_that_cannot_be_made_now_is_made_by_a_later_attempt(driven: Scene) -> None:
    """Plain SQL asks no factory before the commit; the worker asks it before each attempt."""
    answer = driven.door.start("s1", 'script: [{"say": "At last."}]', agent_type="factory")
    driven.wake()
    driven.stage.seen("factory")
    driven.stage.open("mended")
    row = driven.settled(answer.run_id)

    assert (row.status, row.output) == ("completed", "At last.")
    assert len(driven.stage.notes("factory")) == 2
    kept = driven.door.rows("select to_jsonb(r)::text as it from lockgate_store.recoveries r")
    assert kept == [], "progress has reset the budget"
    assert SECRET not in "".join(str(row) for row in driven.stored().values())


def test_a_prompt_and_state_of_the_session_reach_the_next_turn(driven: Scene) -> None:
    """History is what the store holds, whoever asks the model next."""
    driven.settled(driven.start("s1", {"calls": [call("add", a=1, b=2)]}, {"say": "Three."}))
    driven.settled(driven.start("s1", {"say": "Four."}, state={"seen": True}))
    told = [note["messages"] for note in driven.stage.notes("model")]
    assert told == [1, 3, 5]
    assert driven.door.session("s1").state == {"seen": True}
