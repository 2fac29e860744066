"""S07: the sweep adopts a run that was born this millisecond."""

from functools import partial
from pathlib import Path
from typing import Any

from lockgate.database import Database
from lockgate.recovery import Sweeper
from lockgate.rules import entries
from tests.support.clients import at_once, clients_of
from tests.support.proves import case
from tests.support.rounds import rounds
from tests.support.scene import Scene
from tests.support.seen import seen
from tests.support.stage import Stage

AT_ONCE = 3
REGULAR = (
    "select from lockgate_store.workers where worker_id = %s"
    " and regular_since + lease_ms * interval '1 millisecond' < clock_timestamp()"
)


def sweep_at_each_start(folder: Path, worker_id: str) -> None:
    """Sweep in this process right after each commit of a start, before anybody hears of it."""
    stage, call_once = Stage(folder), Database.call_once

    async def swept_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        answer = await call_once(self, rule, *args, **given)
        if rule is entries.start:
            stage.note("swept", enqueued=await Sweeper(self, worker_id).sweep())
        return answer

    Database.call_once = swept_call  # type: ignore[method-assign]


@case(7)
@rounds(4, 200)
def test_a_run_that_starts_with_its_app_has_one_drive(scene: Scene, rounds: int) -> None:
    """Each round an app starts, and is asked at once; who sweeps has been regular for long."""
    sweeping = scene.crew.worker("sweeps", sweep_every_s=0.02)
    worker_id = sweeping.ready()
    seen(lambda: scene.door.rows(REGULAR, worker_id), "it may judge others")
    prepare = partial(sweep_at_each_start, scene.stage.folder, worker_id)
    for number in range(rounds):
        app = scene.crew.server(f"app-{number}", prepare=prepare)
        with clients_of(app.ready()) as (client,):
            names = [f"s{number}-{place}" for place in range(AT_ONCE)]
            at_once([partial(client.started, name, {"say": "Hello."}) for name in names])
            for name in names:
                assert client.settled(name)["status"] == "completed"
        app.kill()
    runs = AT_ONCE * rounds
    told = seen(
        lambda: found if len(found := scene.stage.notes("after_entry")) == runs else [],
        "every drive is told",
    )
    assert {note["drive"] for note in told} == {"start"}
    assert [note["enqueued"] for note in scene.stage.notes("swept")] == [0] * runs
    asked = [note["run"] for note in scene.stage.notes("model")]
    assert len(asked) == len(set(asked)) == runs
    rows = scene.door.rows("select attempt from lockgate_store.runs")
    assert [row.attempt for row in rows] == [2] * runs, "one claim, and its end"
    drives = scene.door.rows("select from dbos.workflow_status where name = 'drive_run'")
    assert len(drives) == runs
    logs = "".join(log.read_text() for log in scene.stage.folder.glob("*.log"))
    assert "sweep.acted" not in logs
    assert "sweep.finding_failed" not in logs
