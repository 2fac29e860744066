"""A drive's n-th statement about its run fails, from its claim to the commit of its end.

Each run meets a fault of its own, of each kind at each number, and all are driven at once by one
worker behind the link. One effect is left of each: the same history, one settlement, and nothing
done again but what was in flight.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lockgate import RunHandle
from tests.faults.place import TRIES, wait_less
from tests.support.cluster import Cluster
from tests.support.fault_proxy import Proxy, proxy_to
from tests.support.invariants import violations
from tests.support.nth_fault import BOUNDS, KINDS, NthFault, nth_fault
from tests.support.scene import Scene, call, scene_of
from tests.support.seen import seen

SAID = "All is done, " + "word by word " * 14 + "to the end."  # more than one batch of chunks
TURNS = (
    {"calls": [call("add", a=1, b=2), call("boom", message="it broke")]},
    {"say": SAID},
)
STEPS = 2
ROLES = [("user", 0), ("assistant", 1), ("tool", 1), ("assistant", 2)]
MOST = 20  # places to break at; a drive has fewer statements that name its session
LEAST = 9  # claim, reply, two results, step, chunks, reply, the end and its commit


@pytest.fixture
def scene(cluster: Cluster, tmp_path: Path) -> Iterator[Scene]:
    """A database, the rules, a stage, and a crew that is nobody yet."""
    with cluster.clone("real") as database, scene_of(database, tmp_path) as scene:
        yield scene


@pytest.fixture
def proxy(scene: Scene) -> Iterator[Proxy]:
    with proxy_to(scene.url) as proxy:
        yield proxy
        scene.crew.close()


@pytest.fixture
def numbers(request: pytest.FixtureRequest) -> list[int]:
    """Where to break: everywhere, or at one place."""
    only = request.config.getoption("--fault-at", default=None)
    return [only] if only else list(range(1, MOST + 1))


# So that the runs of one test do not wait for each other's slots.
HALVES = pytest.mark.parametrize("kinds", [KINDS[:3], KINDS[3:]], ids=" ".join)
Broken = dict[str, tuple[NthFault, RunHandle]]


def broken_runs(
    scene: Scene, proxy: Proxy, numbers: list[int], kinds: Sequence[str], *, lasts: bool
) -> Broken:
    """Start a run for each kind and number, and arm its fault before anybody can drive it."""
    broken = {}
    for how, nth in itertools.product(kinds, numbers):
        session_id = f"{how}-at-{nth:02}"
        fault = proxy.put(nth_fault(how, nth, lasts=lasts, naming=session_id))
        broken[session_id] = fault, scene.start(session_id, *TURNS)
    # A late beat is followed by a look at the claim, and so is one statement more.
    scene.crew.worker("A", url=proxy.url, prepare=wait_less, lease_ms=3_000).ready()
    return broken


def left(scene: Scene, run: RunHandle) -> Any:
    """Return what is left of a run: its history, its text as a reader has it, its settlements."""
    session_id = run.session_id
    history = [(m.role, m.step, m.content) for m in scene.door.messages(session_id)]
    return history, scene.text(session_id), scene.settlements(run.run_id)


def one_effect_of_each(scene: Scene, broken: Broken) -> None:
    """Hold that every run has come to the same end, whatever it has met."""
    for name, (_, run) in broken.items():
        row = scene.settled(run)
        assert (row.status, row.output) == ("completed", SAID), name
    for name, (_, run) in broken.items():
        history, text, settled = left(scene, run)
        assert [(role, step) for role, step, _ in history] == ROLES, name
        assert (text, settled) == (SAID, ["completed"]), name
        nothing_more_is_done(scene, name, run)
    assert violations(scene.door.connection) == []


def nothing_more_is_done(scene: Scene, name: str, run: RunHandle) -> None:
    """Hold that each attempt repeats at most what was in flight when its forerunner ended."""
    attempts = scene.door.run(run.run_id).attempt - 1  # The end itself counts as one.
    bodies = [note["dedupe"] for note in scene.stage.notes("tool", run=run.run_id)]
    assert set(bodies) == {f"{run.run_id}:1:1"}, name
    assert len(bodies) <= attempts, name
    assert len(scene.stage.notes("model", run=run.run_id)) <= STEPS + attempts - 1, name


def every_statement_was_broken(broken: Broken, kinds: Sequence[str]) -> None:
    """Hold that each kind met every statement, and went past the last: there it met none."""
    for how in kinds:
        was_hit = [fault.hits > 0 for name, (fault, _) in broken.items() if name.startswith(how)]
        if len(was_hit) > 1:
            assert all(was_hit[:LEAST]), how
            assert not all(was_hit), how


@HALVES
def test_a_drive_has_one_effect_whichever_of_its_statements_fails_once(
    scene: Scene, proxy: Proxy, numbers: list[int], kinds: Sequence[str]
) -> None:
    broken = broken_runs(scene, proxy, numbers, kinds, lasts=False)
    one_effect_of_each(scene, broken)
    every_statement_was_broken(broken, kinds)


@HALVES
def test_a_drive_that_is_cut_off_goes_on_when_the_store_does(
    scene: Scene, proxy: Proxy, numbers: list[int], kinds: Sequence[str]
) -> None:
    broken = broken_runs(scene, proxy, numbers, kinds, lasts=True)
    waiting = dict(broken)

    def each_is_given_up() -> bool:
        """Lift each fault once it has lasted longer than anybody tries."""
        for name, (fault, run) in [*waiting.items()]:
            if is_given_up_or_over(scene, fault, run):
                proxy.lift(fault)
                del waiting[name]
        return not waiting

    seen(each_is_given_up, "every drive is cut off, or over")
    assert violations(scene.door.connection) == []
    one_effect_of_each(scene, broken)
    every_statement_was_broken(broken, kinds)


def is_given_up_or_over(scene: Scene, fault: NthFault, run: RunHandle) -> bool:
    if fault.hits == 0:
        return bool(scene.door.run(run.run_id).status != "running")
    return fault.hits >= (2 if fault.sqlstate in BOUNDS else TRIES)
