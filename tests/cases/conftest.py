"""What the cases share: two server processes A and B on one database, and a client of each.

The agents play scripts on a stage; their models and tools are counted, whichever process ran them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import lockgate.database
from tests.support.clients import Client, clients_of
from tests.support.cluster import Database
from tests.support.crew import Member
from tests.support.door import Door
from tests.support.fault_proxy import Proxy, proxy_to
from tests.support.histories import refused
from tests.support.scene import Scene, scene_of
from tests.support.stage import Stage


@dataclass(frozen=True)
class Pair:
    """Two servers that share a database, and what a test needs beside them."""

    a: Client
    b: Client
    members: tuple[Member, Member]
    scene: Scene

    @property
    def door(self) -> Door:
        return self.scene.door

    @property
    def stage(self) -> Stage:
        return self.scene.stage

    def models(self, run_id: str) -> int:
        """Return how often the model was called for a run."""
        return len(self.stage.notes("model", run=run_id))

    def runs(self, session_id: str) -> int:
        return self._count("runs", session_id)

    def inputs(self, session_id: str) -> list[str]:
        """Return the user's texts that are stored, in their order."""
        messages = [m for m in self.door.messages(session_id) if m.role == "user"]
        return ["".join(part["text"] for part in m.content) for m in messages]

    def kept(self) -> dict[str, list[str]]:
        """Return all that is stored but the streams: a word may still be on its way to one."""
        stored = self.scene.stored()
        return {table: rows for table, rows in stored.items() if "stream" not in table}

    def _count(self, table: str, session_id: str) -> int:
        query = f"select count(*) as n from lockgate_store.{table} where session_id = %s"
        return int(self.door.row(query, session_id).n)


def wait_less() -> None:
    """Make a process tell sooner that its database is away."""
    lockgate.database.POOL_WAIT_S = 1.0


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
def proxy(scene: Scene) -> Iterator[Proxy]:
    """A link to the database that can break."""
    with proxy_to(scene.url) as proxy:
        yield proxy
        scene.crew.close()


@pytest.fixture
def split(scene: Scene) -> Iterator[Pair]:
    """A only answers requests; B drives."""
    members = (scene.crew.server("A", "--no-worker"), scene.crew.server("B"))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(1)
        yield Pair(a, b, members, scene)
        scene.crew.close()


@pytest.fixture
def pair(scene: Scene) -> Iterator[Pair]:
    """A and B."""
    members = (scene.crew.server("A"), scene.crew.server("B"))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(2)
        yield Pair(a, b, members, scene)
        scene.crew.close()
