"""S20: no path may leave the session busy."""

from typing import Any
from uuid import UUID, uuid4

from tests.support.clients import clients_of
from tests.support.proves import case
from tests.support.scene import Scene, call, said
from tests.support.seen import seen
from tests.support.stage_agents import SCRIPTED

HELLO = {"say": "Hello."}
# How a run may end badly, by its session: what its model plays.
WAYS: dict[str, list[dict[str, Any]]] = {
    "model": [{"say": "@raise:unheard"}],
    "exit": [{"calls": [call("leave", how="exit")]}, HELLO],
    "key": [{"calls": [call("leave", how="key")]}, HELLO],
    "cancel": [{"calls": [call("leave", how="cancel")]}, HELLO],
    "odd": [{"calls": [call("odd", kind="nothing JSON knows")]}, HELLO],
}


def hand_made(scene: Scene) -> None:
    """Make a run that nobody owns and no workflow drives, as a careless client of the tables.

    In one commit: a sweep in between would take over half of it.
    """
    run_id = uuid4()
    scene.door.finished("hand", said(HELLO), agent_type=SCRIPTED)
    with scene.door.connection.transaction():
        _insert_run(scene, run_id)


def _insert_run(scene: Scene, run_id: UUID) -> None:
    scene.door.execute(
        "insert into lockgate_store.runs (session_id, run_id, turn, drive, start_digest, drive_id,"
        " dispatch_at, start_sequence, started_at)"
        " select 'hand', %s, 2, 'resume', '', gen_random_uuid(), now(), head_sequence, now()"
        " from lockgate_store.streams where session_id = 'hand'",
        run_id,
    )
    scene.door.execute(
        "update lockgate_store.sessions set current_run_id = %s, turn_count = 2, status = 'active'"
        " where session_id = 'hand'",
        run_id,
    )
    scene.door.execute(
        "update lockgate_store.streams set run_id = %s, status = 'active', attempt = 1,"
        " final = null where session_id = 'hand'",
        run_id,
    )


@case(20)
def test_however_a_run_ends_the_next_one_starts(scene: Scene) -> None:
    scene.crew.worker(max_attempts=2).ready()
    front = scene.crew.server("A", "--no-worker")
    with clients_of(front.ready()) as (client,):
        scene.listened_to(1)
        for way, turns in WAYS.items():
            client.started(way, *turns)
        # Over HTTP the failing factory would refuse the entry; SQL's is met by the worker.
        scene.door.start("factory", said(HELLO), agent_type="factory")
        hand_made(scene)
        scene.wake()
        sessions = [*WAYS, "factory", "hand"]
        ends = {name: client.settled(name) for name in sessions}

        for name in sessions:
            run = scene.settled(ends[name]["runId"])
            assert ends[name]["streamStatus"] == ("failed" if run.status == "failed" else "ended")
            assert scene.settlements(run.run_id) == [run.status]
        for name in ("model", "factory"):
            detail = ends[name]["errorDetail"]
            assert detail["code"] == "framework_auto_resume_exhausted", name
            assert detail["retryable"] is True
            assert detail["cause"]["message"], "the last failure is kept"
        assert ends["hand"]["status"] == "completed"
        scene.stage.open("mended")
        for name in sessions:
            agent = "factory" if name == "factory" else SCRIPTED
            assert client.started(name, HELLO, agentType=agent)["status"] == "started", name
        for name in sessions:
            ended = seen(lambda name=name: client.settled(name), name)  # type: ignore[misc]
            assert (ended["status"], ended["output"]) == ("completed", "Hello."), name
        scene.crew.close()
