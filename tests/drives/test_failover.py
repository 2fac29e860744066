"""The primary dies and its standby takes its place: what was accepted goes on there."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.clients import Client, Reader, clients_of, terminal, text_of
from tests.support.cluster import Database
from tests.support.crew import Member
from tests.support.endpoint import Endpoint, endpoint_of
from tests.support.invariants import violations
from tests.support.replicas import Replicas, replicas
from tests.support.scene import Scene, call, scene_of
from tests.support.seen import seen
from tests.support.weather import AWAY, beating, wait_less

READ_ONLY_S = 2.0  # how long the address leads to a standby that is not yet the primary
SAID = "word by word " * 20 + "to the end."
PACED = {"say": f"@pace:0.03 {SAID}"}


@pytest.fixture
def two() -> Iterator[Replicas]:
    """A primary and its standby."""
    with replicas() as two:
        yield two


@pytest.fixture
def endpoint(two: Replicas) -> Iterator[Endpoint]:
    """The one address that a managed Postgres has."""
    with endpoint_of(two.primary.url) as endpoint:
        yield endpoint


@pytest.fixture
def scene(two: Replicas, endpoint: Endpoint, tmp_path: Path) -> Iterator[Scene]:
    with scene_of(Database("postgres", endpoint.url), tmp_path) as scene:
        yield scene
        scene.crew.close()


def crew_on(scene: Scene) -> tuple[Member, list[str]]:
    front = scene.crew.server("A", "--no-worker", prepare=wait_less)
    return front, [scene.crew.worker(name, prepare=wait_less).ready() for name in ("B", "C")]


@contextmanager
def under_way(scene: Scene) -> Iterator[Client]:
    """Have runs in the middle of a call, of a body and of a stream, before and after the block."""
    front, workers = crew_on(scene)
    with clients_of(front.ready()) as (client,):
        accepted = {"says": client.started("says", {"say": "Before @hold:model and after."})}
        does = {"calls": [call("hold", gate="tool")]}
        accepted["does"] = client.started("does", does, {"say": "It is done."})
        accepted |= {f"s{n}": client.started(f"s{n}", PACED, key="k") for n in range(8)}
        for gate in ("model", "tool"):
            scene.stage.seen("waits", gate=gate)
        readers = {name: Reader(client, name) for name in ("says", "does", "s0")}
        for reader in readers.values():
            reader.seen(1)
        yield client
        scene.look_again()
        beating(scene.door, workers)
        for gate in ("model", "tool"):
            scene.stage.open(gate)
        ends = {name: client.settled(name) for name in accepted}
        expected = {"says": "Before and after.", "does": "It is done."}
        for name, run in accepted.items():
            assert ends[name]["output"] == expected.get(name, SAID), ends[name]
            assert scene.settlements(run["runId"]) == ["completed"], "no accepted run is lost"
        for name, reader in readers.items():
            events = reader.ended()
            assert [event.name for event in terminal(events)] == ["end"]
            chunks = [event.sequence for event in events if event.name == "chunk"]
            assert chunks == [*range(1, len(chunks) + 1)]
            assert text_of(events) == expected.get(name, SAID)
        assert violations(scene.door.connection) == []


def refused_for(client: Client, seconds: float) -> None:
    """Ask again and again for an entry that the database cannot take."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        answer = client.start("later", {"say": "Hello."}, key="k1")
        body = answer.json()
        assert (answer.status_code, body["code"], body["retryable"]) == AWAY


def accepted_again(client: Client) -> None:
    """Have the refused entry taken, once the database takes writes."""
    seen(lambda: client.start("later", {"say": "Hello."}, key="k1").status_code == 200)
    assert client.settled("later")["output"] == "Hello."


def test_a_standby_that_is_not_yet_the_primary_is_weather(
    scene: Scene, two: Replicas, endpoint: Endpoint
) -> None:
    with under_way(scene) as client:
        two.lose_primary()
        endpoint.lead_to(two.standby.url)
        refused_for(client, READ_ONLY_S)
        assert client.status("says")["status"] == "active", "a standby may be read"
        two.promote()
        accepted_again(client)


def test_a_link_to_a_server_that_stays_a_standby_is_left(
    scene: Scene, two: Replicas, endpoint: Endpoint
) -> None:
    """The address led there for a moment only, and nobody cuts the links that were made then."""
    with under_way(scene) as client:
        endpoint.lead_to(two.standby.url)
        refused_for(client, READ_ONLY_S)
        endpoint.turn_to(two.primary.url)
        accepted_again(client)


def test_a_list_of_hosts_leads_to_whichever_takes_writes(two: Replicas, tmp_path: Path) -> None:
    """As libpq has it: pool, heartbeat, LISTEN, DBOS and the end's own pool follow."""
    with scene_of(Database("postgres", two.either_url), tmp_path) as scene:
        with under_way(scene) as client:
            two.lose_primary()
            refused_for(client, READ_ONLY_S)
            two.promote()
            accepted_again(client)
        scene.crew.close()
