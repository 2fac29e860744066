"""One sweep acts on all that is found, however much that is."""

from lockgate.recovery import PAGE, Sweeper
from tests.support.scene import Scene
from tests.support.seen import seen

SWEEPER = "sweeper"
MORE = PAGE + 20


def test_a_full_page_of_findings_is_followed_by_the_next_one_at_once(scene: Scene) -> None:
    """Each run has lost its workflow, so that nobody executes it."""
    for number in range(MORE):
        scene.door.start(f"s{number}")
    scene.door.execute("delete from dbos.workflow_status")
    hurried: list[int] = []
    sweeper = Sweeper(scene.own.database, SWEEPER, hurry=lambda: hurried.append(1))

    def swept() -> int:
        scene.door.beat(SWEEPER, lease_ms=1_000)
        return scene.run(sweeper.sweep())

    assert seen(swept, "it may judge others") == MORE
    assert len(hurried) == 2
    rows = scene.door.rows("select attempt from lockgate_store.runs")
    assert [row.attempt for row in rows] == [2] * MORE
    drives = scene.door.rows("select from dbos.workflow_status where name = 'drive_run'")
    assert len(drives) == MORE
    assert swept() == 0, "nothing is left"
