"""The database is restarted under runs, entries and readers: all go on by themselves."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lockgate.worker
from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres
from tests.support.clients import Client, Reader, at_once, clients_of, terminal, text_of
from tests.support.cluster import FAST, Database, install
from tests.support.endpoint import endpoint_of
from tests.support.invariants import violations
from tests.support.outages import How, stopped
from tests.support.scene import Scene, call, scene_of
from tests.support.seen import seen
from tests.support.weather import AWAY, beating, wait_less

LEASE_S = 3.0  # a busy machine keeps a beat waiting for longer than the usual second
HELLO = {"say": "Hello."}


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A server of one's own, which may be stopped."""
    with temporary_postgres(settings={**FAST, "synchronous_commit": "on"}) as server:
        install(server.url)
        yield server


@pytest.fixture
def scene(server: EmbeddedPostgres, tmp_path: Path) -> Iterator[Scene]:
    with scene_of(Database("postgres", server.url), tmp_path) as scene:
        yield scene
        scene.crew.close()


def refused(client: Client) -> Any:
    """Ask for an entry of a server whose database is away."""
    answer = client.start("later", HELLO, key="k1")
    body = answer.json()
    return answer.status_code, body["code"], body["retryable"]


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_an_outage_longer_than_the_lease_is_waited_out_by_all(
    scene: Scene, server: EmbeddedPostgres, how: How
) -> None:
    """One run is in a model call, one in a tool's body, and each has a reader."""
    front = scene.crew.server("A", "--no-worker", prepare=wait_less)
    lease_ms = int(LEASE_S * 1_000)
    workers = [scene.crew.worker(name, lease_ms=lease_ms) for name in ("B", "C")]
    names = [worker.ready() for worker in workers]
    with clients_of(front.ready()) as (client,):
        said = client.started("says", {"say": "Before @hold:model and after."})["runId"]
        does = {"calls": [call("hold", gate="tool")]}
        done = client.started("does", does, {"say": "It is done."})["runId"]
        for gate in ("model", "tool"):
            scene.stage.seen("waits", gate=gate)
        readers = [Reader(client, session_id) for session_id in ("says", "does")]
        for reader in readers:
            reader.seen(1)
        with stopped(server, how):
            down = time.monotonic() + 2 * LEASE_S
            told = set(at_once([partial(refused, client)] * 3))
            seen(lambda: time.monotonic() > down)
        scene.look_again()
        assert told == {AWAY}
        seen(lambda: client.http.get("/readyz").status_code == 200)
        assert client.started("later", HELLO, key="k1")["status"] == "started"
        beating(scene.door, names)
        seen(lambda: all_judge(scene, names), "they sweep again")
        assert [scene.door.run(run_id).attempt for run_id in (said, done)] == [1, 1]
        for gate in ("model", "tool"):
            scene.stage.open(gate)
        outputs = [client.settled(each)["output"] for each in ("says", "does", "later")]
        assert outputs == ["Before and after.", "It is done.", "Hello."]
        for reader in readers:
            read_each_chunk_once(reader)
        assert len(scene.stage.notes("model", run=said)) == 1
        assert len(scene.stage.notes("tool", run=done)) == 1
        assert violations(scene.door.connection) == []


def all_judge(scene: Scene, names: list[str]) -> bool:
    """Say whether each worker has beaten for two leases without a gap: it has swept since then."""
    query = """
    select from lockgate_store.workers w
     where w.worker_id = any(%s)
       and w.regular_since + 2 * w.lease_ms * interval '1 millisecond' < clock_timestamp()
    """
    return len(scene.door.rows(query, names)) == len(names)


def read_each_chunk_once(reader: Reader) -> None:
    """Hold that a reader who was there before the outage has the whole stream, and its end."""
    events = reader.ended()
    assert not reader.broke
    assert [event.name for event in terminal(events)] == ["end"]
    chunks = [event.sequence for event in events if event.name == "chunk"]
    assert chunks == [*range(1, len(chunks) + 1)]
    whole = [*reader.client.events(reader.session_id)]
    assert text_of(events) == text_of(whole)


def test_runs_that_write_all_the_time_come_through_restarts(
    scene: Scene, server: EmbeddedPostgres
) -> None:
    """Each commit of theirs is cut somewhere; what was in flight is done again, nothing is lost."""
    for name in ("B", "C"):
        scene.crew.worker(name).ready()
    runs = [
        scene.start(f"s{number}", {"calls": [call("add", a=1, b=2)]}, {"say": f"@pace:0.02 {SAID}"})
        for number in range(12)
    ]
    hows: list[How] = ["fast", "immediate"]
    for how in hows:
        scene.stage.seen("model", 2)
        with stopped(server, how):
            pass
        scene.look_again()
    for run in runs:
        row = scene.settled(run)
        assert (row.status, row.output) == ("completed", SAID), row.error_detail
        assert scene.text(run.session_id, run.run_id) == SAID
        assert scene.settlements(run.run_id) == ["completed"]
    assert violations(scene.door.connection) == []


def deaf() -> None:
    """Let nobody listen again."""
    lockgate.worker.RELISTEN_S = 3_600.0


def test_after_an_outage_the_queue_is_looked_at_though_nobody_is_told(scene: Scene) -> None:
    with endpoint_of(scene.url) as endpoint:
        worker = scene.crew.worker("B", url=endpoint.url, prepare=deaf)
        name = worker.ready()
        with endpoint.away():
            seen(lambda: "worker.loop_failed" in worker.log.read_text(), "a sweep has failed")
        beating(scene.door, [name])
        scene.own.kick = None
        assert scene.settled(scene.start("s1", HELLO)).output == "Hello."
        scene.crew.close()


SAID = "word by word " * 20 + "to the end."
