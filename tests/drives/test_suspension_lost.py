"""The answer of a suspension, or of a body's beginning, is lost: it has one effect all the same."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.answers import continued, results, submitted, suspended
from tests.support.fault_proxy import Proxy, proxy_to
from tests.support.proves import case
from tests.support.scene import Scene, call

DONE = {"say": "Done."}


@pytest.fixture
def proxy(scene: Scene) -> Iterator[Proxy]:
    with proxy_to(scene.url) as proxy:
        yield proxy
        scene.crew.close()


@case(1)
@pytest.mark.parametrize("what", ["cut", "drop"])
def test_a_suspension_whose_answer_is_lost_has_one_effect(
    scene: Scene, proxy: Proxy, what: Any
) -> None:
    scene.crew.worker("A", url=proxy.url).ready()
    fault = proxy.arm(what, b"lockgate.suspend_run(", b"COMMIT")
    run = scene.start("s1", {"calls": [call("pick"), call("add", a=1, b=2)]}, DONE)
    fault.seen()
    (pick,) = suspended(scene, run)
    assert scene.settlements(run.run_id) == ["suspended_client_tool"]
    row = continued(scene, submitted(scene, pick, result=1).run_id)
    assert (row.status, row.output) == ("completed", "Done.")
    assert len(scene.stage.notes("tool", name="add")) == 1
    assert len(scene.stage.notes("model")) == 2
    assert [c["type"] for c in scene.door.chunks()].count("run_paused") == 1


@pytest.mark.parametrize("what", ["cut", "drop"])
def test_a_beginning_whose_answer_is_lost_is_ones_own(
    scene: Scene, proxy: Proxy, what: Any
) -> None:
    """Asked again it is answered `repeated`, and the body runs: nobody else can have begun it."""
    scene.stage.open("g")
    scene.crew.worker("A", url=proxy.url).ready()
    fault = proxy.arm(what, b"lockgate.begin_call(")
    run = scene.start("s1", {"calls": [call("once", gate="g")]}, DONE)
    fault.seen()
    assert scene.settled(run).output == "Done."
    assert results(scene) == [{"success": True, "result": "done once"}]
    assert len(scene.stage.notes("tool", name="once")) == 1
