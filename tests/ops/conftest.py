"""What the tests of ops share: places where the server's account can go, and bare databases."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate_ops.children import Children
from lockgate_ops.embedded import EmbeddedPostgres
from lockgate_ops.install import InstallSettings, install_rules
from lockgate_ops.settings import child_environment
from tests.ops.databases import BareDatabase, bare_database
from tests.support.cluster import Database


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the person who tests has set for himself."""
    for name in child_environment().keys() ^ os.environ.keys():
        monkeypatch.delenv(name)


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that the server's account can enter, which pytest's own is not."""
    yield from _room()


@pytest.fixture(scope="session")
def _made_once() -> Iterator[Path]:
    for room in _room():
        # Marked to go with us, so initdb leaves out its sync.
        with EmbeddedPostgres(room / "data", gone_with_owner=room) as server:
            pass
        yield server.data


@pytest.fixture
def made(room: Path, _made_once: Path) -> Path:
    """A data folder that has been started before: a copy costs a tenth of an initdb."""
    subprocess.run(["cp", "-a", _made_once, room / "data"], check=True)
    return room / "data"


@pytest.fixture
def clean_database(clean_database: Database) -> Database:
    """The rules as they stand now: a process refuses those that were edited meanwhile."""
    install_rules(clean_database.url, InstallSettings())
    return clean_database


@pytest.fixture
def bare(clean_database: Database) -> Iterator[BareDatabase]:
    """A database in which nothing is installed, owned by a role that owns nothing else."""
    with bare_database(clean_database.url) as made:
        yield made


@pytest.fixture
def children() -> Iterator[Children]:
    """Starts `lockgate` processes, and leaves none running."""
    with Children() as started:
        yield started


def _room() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lockgate-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
