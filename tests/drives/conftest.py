"""What the tests of drives share: a scene of their own, and a worker in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Database
from tests.support.histories import refused
from tests.support.house import House, house_of
from tests.support.peer import Peer, peer_on_loopback
from tests.support.scene import Scene, scene_of


@pytest.fixture
def scene(clean_database: Database, tmp_path: Path) -> Iterator[Scene]:
    """A database, the rules, a stage, and a crew that is nobody yet.

    Whatever a test leaves in a history, the strictest provider takes it.
    """
    with scene_of(clean_database, tmp_path) as scene:
        yield scene
        scene.crew.close()
        assert refused(scene.door) == []


@pytest.fixture
def driven(scene: Scene) -> Scene:
    """A scene in which one worker drives."""
    scene.crew.worker().ready()
    scene.listened_to(1)
    return scene


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A host of remote children that says what a test wants."""
    with peer_on_loopback() as peer:
        yield peer


@pytest.fixture
def house(scene: Scene, peer: Peer) -> House:
    """A parent in the middle of a step, and its tools for its companions."""
    return house_of(scene, peer)
