"""A sweep goes on until nothing more is enqueued, however much there is."""

from lockgate.recovery import Sweeper
from tests.support.lost_states import LONG_AGO
from tests.support.scene import Scene

SWEEPER = "sweeper"
MORE = 120  # than one look finds


def test_what_one_look_does_not_find_the_next_one_does_at_once(scene: Scene) -> None:
    """Each run has lost its workflow, so that nobody executes it."""
    for number in range(MORE):
        scene.door.start(f"s{number}")
    scene.door.execute("delete from dbos.workflow_status")
    scene.door.beat(SWEEPER, lease_ms=60_000)
    scene.door.execute(f"update lockgate_store.workers set regular_since = {LONG_AGO}")
    sweeper, hurried = Sweeper(scene.own.database, SWEEPER), list[int]()

    def swept() -> list[int]:
        scene.run(sweeper.sweep_on(lambda: hurried.append(1)))
        return hurried

    assert len(swept()) > 1
    rows = scene.door.rows("select attempt from lockgate_store.runs")
    assert [row.attempt for row in rows] == [2] * MORE
    drives = scene.door.rows("select from dbos.workflow_status where name = 'drive_run'")
    assert len(drives) == MORE
    hurried.clear()
    assert swept() == [], "nothing is left"
