"""What a host is told: when a drive owns its run, and when a run has settled."""

from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen


def deliveries(scene: Scene) -> dict[str, str | None]:
    """Return what was marked as delivered to the hook, with the error that was kept."""
    rows = scene.door.rows(
        "select run_id || ':' || status as id, last_error from lockgate_store.deliveries"
        " where consumer = 'hook' and delivered_at is not null"
    )
    return {row.id: row.last_error for row in rows}


def test_a_settled_run_is_told_once_and_marked(scene: Scene) -> None:
    scene.crew.worker(settled=True).ready()
    done = scene.start("s1", {"output": {"n": 1}})
    failed = scene.start("s2", {"fail": {"message": "No."}})
    scene.stage.seen("settled", 2)
    seen(lambda: len(deliveries(scene)) == 2, "both are marked")
    told = {note["run"]: note for note in scene.stage.notes("settled")}

    first, second = told[str(done.run_id)], told[str(failed.run_id)]
    assert (first["status"], first["result"], first["error"]) == ("completed", {"n": 1}, None)
    assert (second["status"], second["result"]) == ("failed", None)
    assert second["error"]["message"] == "No."
    assert first["delivery"] == f"{done.run_id}:completed"
    assert first["drive"] == "start"
    assert set(deliveries(scene).values()) == {None}


def test_inside_the_hook_the_run_is_over_and_the_next_entry_is_taken(scene: Scene) -> None:
    scene.crew.worker(settled=True).ready()
    run = scene.start("waits", {"say": "One."})
    scene.stage.seen("waits", gate="settled-waits")
    assert scene.door.run(run.run_id).status == "completed"
    assert scene.door.stream("waits").status == "ended"
    assert deliveries(scene) == {}
    again = scene.start("waits", {"say": "Two."})
    assert scene.settled(again).status == "completed", "a hook holds up no drive"
    scene.stage.open("settled-waits")
    seen(lambda: len(deliveries(scene)) == 2, "both are marked")


def test_a_hook_that_throws_is_marked_and_not_told_again(scene: Scene) -> None:
    """Two workers look for what is due; a marked one is due to neither."""
    for name in ("A", "B"):
        scene.crew.worker(name, settled=True).ready()
    run = scene.start("throws", {"say": "One."})
    seen(lambda: deliveries(scene), "it is marked")
    assert deliveries(scene) == {f"{run.run_id}:completed": "on_run_settled throws"}
    later = scene.start("later", {"say": "Two."})
    seen(lambda: len(deliveries(scene)) == 2, "the later one is marked")
    told = [note["delivery"] for note in scene.stage.notes("settled")]
    assert told == [f"{run.run_id}:completed", f"{later.run_id}:completed"]


@case(50)
def test_a_worker_that_dies_in_the_hook_leaves_it_to_the_next_under_the_same_id(
    scene: Scene,
) -> None:
    dies = scene.crew.worker("dies", settled=True)
    dies.ready()
    run = scene.start("waits", {"say": "One."})
    scene.stage.seen("waits", gate="settled-waits")
    dies.kill()
    scene.stage.open("settled-waits")
    scene.crew.worker("lives", settled=True).ready()
    scene.settled(scene.start("other", {"say": "Two."}))
    assert len(scene.stage.seen("settled", 2)) == 2, "the lease of the first still holds"
    scene.door.execute("update lockgate_store.deliveries set claimed_until = now()")
    told = [note["delivery"] for note in scene.stage.seen("settled", 3)]
    assert told.count(f"{run.run_id}:completed") == 2
    seen(lambda: len(deliveries(scene)) == 2, "both are marked")


def test_without_a_hook_nothing_is_marked_and_a_later_one_is_told_all(scene: Scene) -> None:
    quiet = scene.crew.worker("quiet", settled=False)
    quiet.ready()
    runs = [scene.start(f"s{number}", {"say": "Hello."}) for number in range(3)]
    for run in runs:
        scene.settled(run)
    assert [scene.settlements(run.run_id) for run in runs] == [["completed"]] * 3
    assert scene.door.rows("select from lockgate_store.deliveries") == []
    quiet.kill()
    scene.crew.worker("telling", settled=True).ready()
    scene.stage.seen("settled", 3)
    told = [note["run"] for note in scene.stage.notes("settled")]
    assert sorted(told) == sorted(str(run.run_id) for run in runs)
    seen(lambda: len(deliveries(scene)) == 3, "all are marked")


def test_after_entry_is_told_the_drive_and_its_throw_stops_nothing(driven: Scene) -> None:
    run = driven.start("throws", {"calls": [call("add", a=1, b=1)]}, {"say": "Two."})
    assert driven.settled(run).status == "completed"
    assert [(n["run"], n["drive"]) for n in driven.stage.notes("after_entry")] == [
        (str(run.run_id), "start")
    ]


def test_what_was_handed_on_before_anybody_claimed_it_begins_as_it_was_entered(
    scene: Scene,
) -> None:
    run = scene.start("s1", {"say": "One."}, agent_type="hooked")
    scene.door.requeue(run.run_id, "raised")
    scene.crew.worker().ready()
    scene.settled(run)
    scene.stage.seen("hook", name="on_agent_complete", run=run.run_id)

    assert [note["drive"] for note in scene.stage.notes("after_entry", run=run.run_id)] == ["start"]
    assert len(scene.stage.notes("hook", name="on_agent_start", run=run.run_id)) == 1
