"""What the tests of faults share: one place for many faults, and how a fault is counted up to.

Every failure says the number at which it came; `--fault-at N` with the test's id breaks only there.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Protocol

import pytest

import lockgate.database
from tests.faults.place import Place
from tests.support.cluster import Cluster
from tests.support.fault_proxy import proxy_to
from tests.support.scene import scene_of


class Tries(Protocol):
    def __call__(self, broke_at: Callable[[int], bool], places: int) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fault-at",
        type=int,
        metavar="N",
        help="break only the n-th statement, in tests/faults: a failure names it",
    )


@pytest.fixture
def until_none_is_hit(request: pytest.FixtureRequest) -> Tries:
    """Break at 1, 2 … until a try says that its fault was not hit: past so many places."""
    only = request.config.getoption("--fault-at", default=None)

    def run(broke_at: Callable[[int], bool], places: int) -> None:
        for nth in [only] if only else itertools.count(1):
            try:
                was_hit = broke_at(nth)
                assert was_hit == (nth <= places), f"there are {places} places"
            except BaseException as error:
                error.add_note(f"replay: pytest '{request.node.nodeid}' --fault-at {nth}")
                raise
            if not was_hit:
                return

    return run


@pytest.fixture(scope="module")
def place(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One database and one link to it for a whole file; every try has a session of its own."""
    with (
        pytest.MonkeyPatch.context() as patch,
        cluster.clone("real") as database,
        scene_of(database, tmp_path_factory.mktemp("stage")) as scene,
        proxy_to(scene.url) as proxy,
    ):
        patch.setattr(lockgate.database, "FIRST_WAIT_S", 0.001)
        patch.setattr(lockgate.database, "POOL_WAIT_S", 2.0)
        place = Place(scene, proxy)
        yield place
        place.close()
