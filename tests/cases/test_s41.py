"""S41: the wake-up connection is dead and nobody knows: every wait has a poll behind it."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockgate import Runtime
from lockgate.streams import Chunk
from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres
from tests.support.clients import Client, Reader, clients_of, text_of
from tests.support.cluster import FAST, Database, install
from tests.support.endpoint import Endpoint, endpoint_of
from tests.support.outages import stopped
from tests.support.proves import case
from tests.support.scene import Scene, call, scene_of
from tests.support.seen import seen
from tests.support.weather import wait_less

REACHED_S = 2.0  # the viewer has what was said in a gap, so soon after the database can be reached
LATENCY_S = 0.2
TIMES = 3  # gaps of one kind: of a busy machine the best one counts, and none may lose anything
GAP = [f"gap{number}" for number in range(TIMES)]
STEPS = [f"step{number}" for number in range(20)]  # chunks whose latency is measured

Trouble: TypeAlias = Callable[[Callable[[], None]], float]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """A server of one's own, which may be restarted."""
    with temporary_postgres(settings={**FAST, "synchronous_commit": "on"}) as server:
        install(server.url)
        yield server


@pytest.fixture
def scene(server: EmbeddedPostgres, tmp_path: Path) -> Iterator[Scene]:
    with scene_of(Database("postgres", server.url), tmp_path) as scene:
        yield scene
        scene.crew.close()


@pytest.fixture
def endpoint(scene: Scene) -> Iterator[Endpoint]:
    """The way of A to the database."""
    with endpoint_of(scene.url) as endpoint:
        yield endpoint
        scene.crew.close()


def terminated(scene: Scene, _: EmbeddedPostgres, endpoint: Endpoint) -> Trouble:
    """End each backend of A: its watcher's, its LISTEN connection, and all the others."""

    def trouble(meanwhile: Callable[[], None]) -> float:
        scene.door.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where client_port = any(%s)",
            endpoint.ports,
        )
        meanwhile()
        return time.monotonic()

    return trouble


def swallowed(_: Scene, __: EmbeddedPostgres, endpoint: Endpoint) -> Trouble:
    """Let nothing pass over any connection of A, and close none."""

    def trouble(meanwhile: Callable[[], None]) -> float:
        began = time.monotonic()
        endpoint.swallow()
        meanwhile()
        return began

    return trouble


def restarted(scene: Scene, server: EmbeddedPostgres, _: Endpoint) -> Trouble:
    """Restart Postgres; what is said in the gap is said by a worker that has to wait itself."""

    def trouble(meanwhile: Callable[[], None]) -> float:
        with stopped(server, "fast"):
            meanwhile()
        scene.look_again()
        return time.monotonic()

    return trouble


def said() -> str:
    gaps = [f"@hold:{name} {' '.join(f'{name}-{n}' for n in range(20))}" for name in GAP]
    return " ".join([*gaps, *(f"@hold:{name} {name}" for name in STEPS), "@hold:end the end."])


@case(41)
@pytest.mark.parametrize("kind", [terminated, swallowed, restarted])
def test_a_viewer_misses_nothing_and_is_soon_as_quick_as_before(
    scene: Scene,
    server: EmbeddedPostgres,
    endpoint: Endpoint,
    kind: Callable[[Scene, EmbeddedPostgres, Endpoint], Trouble],
) -> None:
    back = scene.crew.server("B", prepare=wait_less)
    with clients_of(back.ready()) as (b,):
        views, asks = f"views-{kind.__name__}", f"asks-{kind.__name__}"
        b.started(asks, {"calls": [call("pick")]}, {"say": "It was picked."})
        (pending,) = b.pending(asks)
        b.started(views, {"say": said()})
        scene.stage.seen("waits", gate=GAP[0])
        # A comes last: the run is B's. It listens, because it has a worker, too.
        front = scene.crew.server("A", url=endpoint.url, prepare=wait_less)
        with clients_of(front.ready()) as (a,):
            reader = Reader(a, views)
            reader.seen(1, "caught-up")
            trouble = kind(scene, server, endpoint)
            waits = [gap(scene, reader, trouble, name) for name in GAP]
            assert min(waits) < REACHED_S, waits
            submitted(b, asks, pending)
            latencies = [latency(scene, reader, name) for name in STEPS]
            assert min(latencies) < LATENCY_S, latencies
            scene.stage.open("end")
            ends = reader.ended()
            assert text_of(ends) == b.settled(views)["output"] == text_of([*b.events(views)])
            assert ends[-1].name == "end"
            assert a.settled(asks)["output"] == "It was picked."
            scene.crew.close()


def gap(scene: Scene, reader: Reader, trouble: Trouble, name: str) -> float:
    """Emit twenty chunks on B in a gap; how long the viewer has waited for the last of them."""
    scene.stage.seen("waits", gate=name)
    reachable = trouble(lambda: scene.stage.open(name))
    seen(lambda: f"{name}-19" in text_of(reader.events), f"{name} is read")
    return time.monotonic() - reachable


def latency(scene: Scene, reader: Reader, name: str) -> float:
    scene.stage.seen("waits", gate=name)
    began = time.monotonic()
    scene.stage.open(name)
    seen(lambda: f"{name} " in text_of(reader.events), f"{name} is read")
    return time.monotonic() - began


def submitted(client: Client, session_id: str, pending: dict[str, Any]) -> None:
    answer = client.submit(session_id, pending, result="this one")
    assert answer.status_code == 200, answer.text


@case(41)
def test_a_lost_link_is_counted(scene: Scene, endpoint: Endpoint) -> None:
    far = scene.runtime(endpoint.url)
    scene.run(far.status("nobody"))
    assert far.database.reconnects == 0
    endpoint.cut()
    scene.run(far.status("nobody"))
    once = far.database.reconnects
    assert once > 0
    endpoint.swallow()
    scene.run(far.status("nobody"))
    assert far.database.reconnects > once


@case(41)
def test_who_listens_is_told_that_the_link_is_dead(scene: Scene, endpoint: Endpoint) -> None:
    """Also where nothing closes it; what comes after is heard over the next link."""
    far = scene.runtime(endpoint.url)
    heard = scene.run(hears(far, scene, endpoint))
    assert heard == ["over the first link", "over the second link"]
    assert far.database.reconnects == 1


async def hears(far: Runtime, scene: Scene, endpoint: Endpoint) -> list[str]:
    heard = []
    with suppress(Exception):
        async with far.database.listening() as notices:
            scene.wake()
            async for _ in notices:
                heard.append("over the first link")
                endpoint.swallow()
    async with far.database.listening() as notices:
        scene.wake()
        await anext(notices)
        heard.append("over the second link")
    return heard


@case(41)
def test_a_reader_in_process_goes_on_after_the_gap(scene: Scene, endpoint: Endpoint) -> None:
    """Without HTTP between: no chunk is doubled, none is missing, and nothing is raised."""
    scene.crew.worker("B").ready()
    far = scene.runtime(endpoint.url)
    run = scene.start("follows", {"say": "Before @hold:gap in it and after."})
    scene.stage.seen("waits", gate="gap")

    async def follow() -> list[int]:
        sequences = []
        async for event in far.follow("follows"):
            if isinstance(event, Chunk):
                sequences.append(event.sequence)
            if len(sequences) == 1:
                endpoint.swallow()
                scene.stage.open("gap")
        return sequences

    sequences = scene.run(follow())
    assert scene.settled(run).output == "Before in it and after."
    assert sequences == [*range(1, len(sequences) + 1)]
