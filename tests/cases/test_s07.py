"""S07: the sweep adopts a run that was born this millisecond."""

from tests.support.clients import clients_of
from tests.support.proves import case
from tests.support.rounds import rounds
from tests.support.scene import Scene
from tests.support.seen import seen


@case(7)
@rounds(3, 100)
def test_a_run_that_starts_with_its_app_has_one_drive(scene: Scene, rounds: int) -> None:
    """A worker sweeps without pause; each round an app starts, and is asked at once."""
    sweeping = scene.crew.worker("sweeps", sweep_every_s=0.02)
    sweeping.ready()
    for number in range(rounds):
        app = scene.crew.server(f"app-{number}")
        with clients_of(app.ready()) as (client,):
            for place in range(3):
                session_id = f"s{number}-{place}"
                run = client.started(session_id, {"say": "Hello."})
                client.settled(session_id)
                assert len(scene.stage.notes("model", run=run["runId"])) == 1
        app.kill()
    seen(lambda: len(scene.stage.notes("after_entry")) == 3 * rounds, "every drive is told")
    assert {note["drive"] for note in scene.stage.notes("after_entry")} == {"start"}
    assert {row.attempt for row in scene.door.rows("select attempt from lockgate_store.runs")} == {
        2
    }
    drives = scene.door.rows("select from dbos.workflow_status where name = 'drive_run'")
    assert len(drives) == 3 * rounds
    assert "sweep.acted" not in sweeping.log.read_text()
