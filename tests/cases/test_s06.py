"""S06: graceful shutdown is worse than a crash."""

import lockgate_ops.process
from tests.cases.conftest import Pair
from tests.support.clients import Reader, clients_of, terminal, text_of
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

# A never comes to its end; B says it at once.
SLOW = {"say": "@first one @hold:ever two @later All of it."}
HOLDS = {"calls": [call("hold", gate="body")]}


def leave_slowly() -> None:
    """Let a busy machine take its time: how soon a process ends is held by tests of its own."""
    lockgate_ops.process.GRACE_S = 60.0


@case(6)
def test_a_server_that_is_told_to_leave_hands_its_runs_over_and_stops_none(scene: Scene) -> None:
    leaving = scene.crew.server("A", drain_s=1.0, prepare=leave_slowly)
    with clients_of(leaving.ready()) as (client,):
        runs = [
            client.started("s1", SLOW)["runId"],
            client.started("s2", HOLDS, {"say": "After the body."})["runId"],
            client.started("s3", {"say": "@hold:never"})["runId"],
        ]
        scene.stage.seen("model", 3, pid=leaving.pid)
        seen(lambda: scene.text("s1"), "A says its words")
        taker = scene.crew.server("B")
        with clients_of(taker.ready()) as (other,):
            stopped = other.stop("interrupt", "s3").json()
            assert stopped["runId"] == runs[2]
            leaving.terminate()
            assert leaving.ended() == 0
            was_handed_over(Pair(client, other, (leaving, taker), scene), runs)
        scene.crew.close()


def was_handed_over(pair: Pair, runs: list[str]) -> None:
    """Hold that A's runs go on with B, and that none but the one that a user stopped has ended."""
    scene, (leaving, taker) = pair.scene, pair.members
    readers = [Reader(pair.b, name) for name in ("s1", "s2")]
    scene.stage.seen("waits", pid=taker.pid, gate="body")
    scene.stage.open("body")
    ends = [scene.settled(run_id) for run_id in runs]
    rows = [(end.status, end.stop_kind, end.output) for end in ends]
    assert rows == [
        ("completed", None, "All of it."),
        ("completed", None, "After the body."),
        ("interrupted", "interrupt", None),
    ]
    # The first attempt's, the one after the hand-over, and its end.
    assert [end.attempt for end in ends[:2]] == [3, 3]
    assert scene.door.rows("select from lockgate_store.recoveries") == [], "it is not counted"
    for end in ends[:2]:
        assert scene.settlements(end.run_id) == ["completed"]
        asked = [note["pid"] for note in scene.stage.notes("model", run=end.run_id)]
        assert asked == [leaving.pid, taker.pid]
    assert len(scene.stage.notes("tool", name="hold")) == 2
    assert scene.stage.notes("tool ended", pid=leaving.pid) == []
    texts = [text_of(reader.ended()) for reader in readers]
    assert texts == ["All of it.", "After the body."]
    assert [[e.name for e in terminal(r.events)] for r in readers] == [["end"], ["end"]]
