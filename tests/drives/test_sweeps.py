"""A sweep goes on until nothing more is enqueued, however much there is, and whoever holds some."""

from contextlib import closing

from lockgate.link import ANSWER_S
from lockgate.recovery import AT_ONCE, Sweeper
from tests.support.lost_states import LONG_AGO
from tests.support.scene import Scene
from tests.support.seen import WITHIN_S

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


def test_sessions_that_somebody_holds_hold_up_no_others_recovery(scene: Scene) -> None:
    """So many are held that one wait of a statement for each would be longer than the test."""
    held = [f"held{number}" for number in range(AT_ONCE * (round(WITHIN_S / ANSWER_S) + 1))]
    for name in (*held, "free"):
        scene.door.start(name)
    scene.door.execute("delete from dbos.workflow_status")
    scene.door.beat(SWEEPER, lease_ms=60_000)
    scene.door.execute("update lockgate_store.workers set regular_since = '2000-01-01'")
    sweeper = Sweeper(scene.own.database, SWEEPER)

    def attempts() -> set[tuple[bool, int]]:
        rows = scene.door.rows("select session_id, attempt from lockgate_store.runs")
        return {(row.session_id in held, row.attempt) for row in rows}

    with closing(scene.database.connect(autocommit=False)) as psql:
        psql.execute("select from lockgate_store.sessions where session_id <> 'free' for update")
        assert scene.run(sweeper.sweep()) == 1
        assert attempts() == {(False, 2), (True, 1)}
        psql.rollback()
    assert scene.run(sweeper.sweep()) == len(held)
    assert attempts() == {(False, 2), (True, 2)}
