"""S03: a worker that lost its run comes back and writes."""

from datetime import datetime

from tests.support.door import Drive
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

LEASE_MS = 2_000
SAYS = {"say": "@first from-A @hold:late and late @later from-B"}
THREE_LEASES_AGO = (
    "select from lockgate_store.workers where worker_id = %s"
    " and heartbeat_at + 3 * lease_ms * interval '1 millisecond' < clock_timestamp()"
)


def beat_of(scene: Scene, worker_id: str) -> datetime:
    query = "select heartbeat_at from lockgate_store.workers where worker_id = %s"
    beat: datetime = scene.door.row(query, worker_id).heartbeat_at
    return beat


@case(3)
def test_a_worker_that_comes_back_after_three_leases_writes_nothing(scene: Scene) -> None:
    lost = scene.crew.worker("A", lease_ms=LEASE_MS)
    lost.ready()
    run = scene.start("s1", SAYS)
    scene.stage.seen("waits", pid=lost.pid)
    seen(lambda: "from-A" in scene.text("s1"), "A's words are on the stream")
    old, head = scene.door.run(run.run_id), scene.door.stream("s1").head_sequence
    lost.freeze()
    taker = scene.crew.worker("B", lease_ms=LEASE_MS)
    assert scene.settled(run).output == "from-B"
    seen(lambda: scene.door.rows(THREE_LEASES_AGO, old.owner_id), "three leases have passed")
    before, last_beat = scene.stored(), beat_of(scene, old.owner_id)
    lost.thaw()
    scene.stage.open("late")

    assert scene.returned(old.drive_id) == '{"outcome":"fenced"}', "its own next write was refused"
    seen(lambda: beat_of(scene, old.owner_id) > last_beat, "its heartbeat moves again")
    late = Drive(scene.door, run.run_id, old.attempt, head)
    assert {name: answer.outcome for name, answer in late.every_write()} == dict.fromkeys(
        [name for name, _ in late.every_write()], "fenced"
    )
    again = scene.door.claim(run.run_id, drive_id=old.drive_id, worker_id=old.owner_id)
    assert again.outcome == "over"
    assert scene.stored() == before, "not a row was changed"

    assert (scene.door.run(run.run_id).output, scene.text("s1")) == ("from-B", "from-B")
    assert scene.settlements(run.run_id) == ["completed"]
    own, later = scene.door.rows(
        "select attempt, min(last_sequence - chunk_count + 1) as low, max(last_sequence) as high"
        " from lockgate_store.stream_chunks where chunk_count > 0 group by attempt order by attempt"
    )
    assert own.high < later.low, "nothing of A is above the takeover"
    asked = [note["pid"] for note in scene.stage.notes("model")]
    assert asked == [lost.pid, taker.pid], "A asked no model again"
    assert scene.stage.notes("tool") == []
