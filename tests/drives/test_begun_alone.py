"""What its workers died of again and again is begun alone, lest it take others along."""

import pytest

from lockgate import RunHandle, alone
from tests.support.crew import Member
from tests.support.scene import Scene
from tests.support.seen import seen

SAYS = {"say": "All is said."}
SHORT_S = 0.5


def lost_together(scene: Scene, lost_before: int) -> list[RunHandle]:
    """Start two runs whose worker dies in their model calls, after so many that did before."""
    worker = scene.crew.worker("dies")
    worker.ready()
    runs = [scene.start(name, {"say": f"@hold:{name} All is said."}) for name in ("s1", "s2")]
    scene.stage.seen("waits", 2)
    for run in runs:
        scene.door.execute(
            "insert into lockgate_store.recoveries (session_id, run_id, attempts, deaths, next_at)"
            " values (%s, %s, %s, %s, lockgate.now())",
            run.session_id,
            run.run_id,
            lost_before,
            lost_before,
        )
    worker.kill()
    return runs


def dispatched(scene: Scene, runs: list[RunHandle]) -> None:
    """Wait until the next attempts at both are dispatched to a worker."""

    def are_pending() -> bool:
        drive_ids = [scene.door.run(run.run_id).drive_id for run in runs]
        return [scene.door.workflow(each).status for each in drive_ids] == ["PENDING", "PENDING"]

    seen(are_pending, "both are dispatched")


def owners(scene: Scene, runs: list[RunHandle]) -> list[str]:
    found = (scene.door.run(run.run_id).owner_id for run in runs)
    return [owner for owner in found if owner is not None]


def lengthen() -> None:
    """Let a run be alone until it saves something."""
    alone.ALONE_S = 3_600


def shorten() -> None:
    """Let a run be alone for a moment only."""
    alone.ALONE_S = SHORT_S


def taker(scene: Scene, lost: int) -> Member:
    worker = scene.crew.worker(f"after-{lost}", prepare=lengthen)
    worker.ready()
    return worker


def test_of_two_that_died_again_and_again_one_begins_when_the_other_has_saved_something(
    scene: Scene,
) -> None:
    runs = lost_together(scene, alone.ALONE_AFTER - 1)
    taker(scene, alone.ALONE_AFTER)
    scene.stage.seen("waits", 3)
    dispatched(scene, runs)
    (first,) = [run for run in runs if scene.door.run(run.run_id).owner_id is not None]
    scene.stage.open(first.session_id)
    scene.stage.seen("waits", 4)
    scene.stage.open("s1")
    scene.stage.open("s2")

    assert [scene.settled(run).output for run in runs] == ["All is said."] * 2


def test_two_that_died_less_often_begin_side_by_side(scene: Scene) -> None:
    runs = lost_together(scene, alone.ALONE_AFTER - 2)
    taker(scene, alone.ALONE_AFTER - 1)
    scene.stage.seen("waits", 4)

    assert len(owners(scene, runs)) == 2


def test_one_that_lives_on_for_a_while_was_not_the_poison(scene: Scene) -> None:
    runs = lost_together(scene, alone.ALONE_AFTER - 1)
    scene.crew.worker("goes-on", prepare=shorten).ready()
    scene.stage.seen("waits", 4)

    assert len(owners(scene, runs)) == 2


@pytest.mark.parametrize("lost", [1, 3])
def test_a_drive_is_told_how_often_its_workers_died(scene: Scene, lost: int) -> None:
    (run, _) = lost_together(scene, lost - 1)
    taker(scene, lost)
    seen(lambda: scene.door.run(run.run_id).attempt == 2, "it is taken over")
    row = scene.door.row(
        "select inputs::json -> 'positionalArgs' as told from dbos.workflow_input"
        " where workflow_uuid = %s",
        str(scene.door.run(run.run_id).drive_id),
    )

    assert row.told[4:] == [lost]


def test_one_that_raised_has_killed_nobody(scene: Scene) -> None:
    run_id = scene.start("s1", SAYS).run_id
    for _ in range(alone.ALONE_AFTER):
        scene.door.drive(run_id)
        scene.door.requeue(run_id, "raised", failure={"message": "boom"})
    row = scene.door.row(
        "select inputs::json -> 'positionalArgs' as told from dbos.workflow_input"
        " where workflow_uuid = %s",
        str(scene.door.run(run_id).drive_id),
    )
    assert len(row.told) == 4
