"""A commit landed and its answer did not come, or came while the drive was being stopped."""

from typing import Any

import pytest
from tests.support.fault_proxy import Proxy, proxy_to
from tests.support.proves import case
from tests.support.scene import SCRIPTED, Scene, call, said

from lockgate import RunHandle

SAID = "All is done, " + "word by word " * 14 + "to the end."
TURNS = (
    {"calls": [call("add", a=1, b=2), call("boom", message="it broke")]},
    {"say": SAID},
)


@pytest.fixture
def proxy(scene: Scene) -> Any:
    with proxy_to(scene.url) as proxy:
        yield proxy
        scene.crew.close()


@case(1)
@pytest.mark.parametrize("what", ["cut", "drop"])
@pytest.mark.parametrize(
    "rule", ["claim_run", "append_chunks", "commit_reply", "commit_result", "finish_run"]
)
def test_a_rule_whose_answer_is_lost_has_one_effect(
    scene: Scene, proxy: Proxy, rule: str, what: Any
) -> None:
    said_by_it = [f"lockgate.{rule}(".encode()]
    if rule == "finish_run":
        said_by_it.append(b"COMMIT")
    scene.crew.worker("A", url=proxy.url).ready()
    fault = proxy.arm(what, *said_by_it)
    run = scene.start("s1", *TURNS)
    fault.seen()
    row = scene.settled(run)
    assert (row.status, row.output) == ("completed", SAID)
    assert scene.text("s1") == SAID
    assert scene.settlements(run.run_id) == ["completed"]
    assert [m.role for m in scene.door.messages()] == ["user", "assistant", "tool", "assistant"]
    bodies = [note["dedupe"] for note in scene.stage.notes("tool")]
    assert set(bodies) == {f"{run.run_id}:1:1"}
    assert len(scene.stage.notes("model")) == 2
