"""What the tests of faults share: one place for many faults, and how a fault is counted up to.

Every failure says the number at which it came; `--fault-at N` with the test's id breaks only there.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

import lockgate.database
from tests.faults.place import Place
from tests.support.cluster import Cluster
from tests.support.fault_proxy import proxy_to
from tests.support.scene import scene_of

MOST = 60  # statements of one request or drive; the count ends long before
Tries: TypeAlias = Callable[[Callable[[int], bool]], int]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fault-at",
        type=int,
        metavar="N",
        help="break only the n-th statement, in tests/faults: a failure names it",
    )


@pytest.fixture
def until_none_is_hit(request: pytest.FixtureRequest) -> Tries:
    """Break at 1, 2 … until a try says that its fault was not hit; return how many were."""
    only = request.config.getoption("--fault-at", default=None)

    def run(broke_at: Callable[[int], bool]) -> int:
        hits = 0
        for nth in [only] if only else range(1, MOST):
            try:
                was_hit = broke_at(nth)
            except BaseException as error:
                error.add_note(f"replay: pytest '{request.node.nodeid}' --fault-at {nth}")
                raise
            if not was_hit:
                return hits
            hits += 1
        assert only, f"{MOST} faults were hit and no end is seen"
        return hits

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
