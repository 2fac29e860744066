"""S15: commit order is not number order. Nobody drives here: the test holds the transactions."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import Reader, clients_of
from tests.support.door import Door, Drive
from tests.support.proves import case
from tests.support.racers import Caller
from tests.support.scene import Scene
from tests.support.seen import seen


@pytest.fixture
def pair(scene: Scene) -> Iterator[Pair]:
    """A and B answer requests only."""
    members = (scene.crew.server("A", "--no-worker"), scene.crew.server("B", "--no-worker"))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        yield Pair(a, b, members, scene)
        scene.crew.close()


def same(drive: Drive, door: Door) -> Drive:
    """The same attempt over another connection."""
    return Drive(door, drive.run_id, drive.attempt, drive.head)


@case(15)
@pytest.mark.parametrize("other", ["finish", "supersede"])
def test_what_is_held_before_its_commit_is_not_skipped(pair: Pair, other: str) -> None:
    started = pair.a.started("s1", "hi")
    drive = pair.door.drive(UUID(started["runId"]))
    drive.append("one ")
    reader = Reader(pair.a, "s1")
    reader.seen(1)
    with (
        pair.scene.database.connect(autocommit=False) as holding,
        pair.scene.database.connect() as ending,
        ThreadPoolExecutor() as threads,
    ):
        held = same(drive, Caller(holding)).append("two ", "three ")
        assert held.head_sequence == 3
        if other == "finish":
            future = threads.submit(same(drive, Door(ending)).finish)
        else:
            future = threads.submit(Door(ending).start, "s1", "again", agent_type="scripted")
        seen(
            lambda: pair.door.rows(
                "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'",
                ending.info.backend_pid,
            ),
            "the other commit waits",
        )
        assert len(reader.named("chunk")) == 1, "an open transaction shows nothing"
        holding.commit()
        future.result(10)
    reader.seen(3)
    if other == "supersede":
        second = pair.door.drive(pair.door.session("s1").current_run_id)
        second.append("four ")
        second.finish()
    events = reader.ended()

    numbers = [event.sequence for event in events if event.name == "chunk"]
    assert numbers == list(range(1, len(numbers) + 1))
    replays = [pair.a.bytes("s1"), pair.b.bytes("s1")]
    assert replays[0] == replays[1]
    assert replays[0].count(b"event: chunk") == len(numbers)
