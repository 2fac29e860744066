"""The test house: one Postgres server a session, an empty database for each test.

`rules_db` has a clock that can be moved, `clean_database` and `database_url` have the real one.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, Database, LentDatabase, running_cluster

# Cheapest first: a wrong word is told before a server has started.
FOLDERS = [
    "tidy",
    "contract",
    "rules",
    "races",
    "runtime",
    "api",
    "stateful",
    "ops",
    "clients",
    "drives",
    "cases",
    "faults",
    "model",
]


def pytest_configure() -> None:
    # A shell starts what runs in its background with interrupts ignored, and children inherit it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Spread the whole suite over the cores: most of it waits. A part of it runs in one process."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return (os.cpu_count() or 1) + 1 if is_whole else 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--print-tables", action="store_true", help="write the printed tables of the pages anew"
    )
    parser.addoption(
        "--pg-bin",
        type=Path,
        metavar="DIR",
        help="the folder of the Postgres programs to test against; the wheel's by default",
    )
    parser.addoption(
        "--write-transcripts",
        action="store_true",
        help="write the transcripts of tests/races/*.spec anew",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    rank = {folder: place for place, folder in enumerate(FOLDERS)}

    def place(item: pytest.Item) -> int:
        inside = item.path.relative_to(here) if item.path.is_relative_to(here) else item.path
        return rank.get(inside.parts[0], len(FOLDERS))

    items.sort(key=place)


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """The session's server."""
    with running_cluster(pytestconfig.getoption("--pg-bin")) as running:
        yield running


@pytest.fixture
def rules_db(cluster: Cluster) -> Iterator[LentDatabase]:
    """A database without a row, whose clock obeys `lockgate.fake_now` (support/clock.py)."""
    with cluster.lend("frozen") as database:
        yield database


@pytest.fixture
def clean_database(cluster: Cluster) -> Iterator[Database]:
    """A fresh database with the real clock."""
    with cluster.clone("real") as database:
        yield database


@pytest.fixture
def database_url(clean_database: Database) -> str:
    """The URL of a fresh database with the real clock."""
    return clean_database.url
