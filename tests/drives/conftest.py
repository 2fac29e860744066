"""What the tests of drives share: a scene of their own, and a worker in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Database
from tests.support.scene import Scene, scene_of


@pytest.fixture
def scene(clean_database: Database, tmp_path: Path) -> Iterator[Scene]:
    """A database, the rules, a stage, and a crew that is nobody yet."""
    with scene_of(clean_database, tmp_path) as scene:
        yield scene


@pytest.fixture
def driven(scene: Scene) -> Scene:
    """A scene in which one worker drives."""
    scene.crew.worker().ready()
    scene.listened_to(1)
    return scene
