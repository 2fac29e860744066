"""Sub-agents on another host, driven: recorded, started there, asked until they have ended."""

from collections.abc import Callable
from typing import Any

import pytest

import lockgate.remote_children
from tests.drives.test_children import DONE, children, is_over, results
from tests.support.crew import Member
from tests.support.peer import BUSY, Answer, Peer
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage_children import ask_often

FAR = call("subagent__far", message="go far")
BROUGHT = {"status": "completed", "output": {"far": "out"}}


def lose_soon() -> None:
    """As ask_often, and give a child up that nobody can read for a moment."""
    ask_often()
    lockgate.remote_children.LOST_AFTER_S = 0.3


@pytest.fixture
def far(scene: Scene, peer: Peer) -> Scene:
    """A scene with a worker whose agents know the peer."""
    worker_of(scene, peer)
    return scene


def worker_of(
    scene: Scene, peer: Peer, name: str = "worker", prepare: Callable[[], None] = ask_often
) -> Member:
    (scene.stage.folder / "peer").write_text(peer.url)
    worker = scene.crew.worker(name, prepare=prepare)
    worker.ready()
    scene.listened_to(1)
    return worker


def begin(scene: Scene, *calls: dict[str, Any], session_id: str = "s1") -> Any:
    return scene.start(session_id, {"calls": list(calls)}, DONE, agent_type="parent", user_id="ann")


def test_what_a_remote_child_brings_is_the_result_of_its_call(far: Scene, peer: Peer) -> None:
    peer.status("active", "paused", BROUGHT)
    begin(far, FAR, call("add", a=1, b=2))
    assert is_over(far).output == "All is known."

    assert results(far) == [{"far": "out"}, 3]
    (record,) = children(far)
    assert (record.location, record.status, record.output) == (
        "remote",
        "completed",
        {"far": "out"},
    )
    (asked,) = peer.heard("start")
    assert asked.body == {
        "sessionId": record.child_session_id,
        "agentType": "far",
        "message": "go far",
        "userId": "ann",
        "tags": [],
        "metadata": {},
        "parentSessionId": "s1",
        "rootSessionId": "s1",
    }


def test_a_start_that_nobody_answers_is_settled_by_what_its_status_says(
    far: Scene, peer: Peer
) -> None:
    peer.says("start", Answer(cut=True))
    peer.status("active", BROUGHT)
    begin(far, FAR)
    is_over(far)
    assert results(far) == [{"far": "out"}]


def test_a_child_that_runs_there_already_is_the_calls_own(far: Scene, peer: Peer) -> None:
    peer.says("start", Answer(409, BUSY))
    peer.status(BROUGHT)
    begin(far, FAR)
    is_over(far)
    assert results(far) == [{"far": "out"}]


@pytest.mark.parametrize(
    ("started", "status", "error", "code", "cause"),
    [
        (
            Answer(404, {"error": "No such agent", "code": "NOT_FOUND"}),
            Answer(),
            "No such agent",
            "NOT_FOUND",
            None,
        ),
        (
            Answer(),
            Answer(404, {"error": "no", "code": "NOT_FOUND"}),
            "The child is lost",
            "framework_subagent_lost",
            "not_found",
        ),
        (
            Answer(),
            Answer(403, {"error": "no", "code": "FORBIDDEN"}),
            "The child is lost",
            "framework_subagent_lost",
            "refused:FORBIDDEN",
        ),
        (
            Answer(),
            Answer(body={"status": "failed", "errorDetail": {"message": "it broke there"}}),
            "it broke there",
            None,
            None,
        ),
    ],
    ids=["refused", "not found", "forbidden", "failed"],
)
def test_a_remote_child_that_ends_badly_is_told_to_the_model(
    far: Scene,
    peer: Peer,
    started: Answer,
    status: Answer,
    error: str,
    code: str | None,
    cause: str | None,
) -> None:
    peer.says("start", started)
    peer.says("status", status)
    begin(far, FAR)
    is_over(far)
    assert error in results(far)[0]
    (record,) = children(far)
    assert (record.status, record.error_detail.get("code")) == ("failed", code)
    assert record.error_detail.get("cause") == cause


def test_a_child_that_nobody_can_read_is_lost_in_the_end(scene: Scene, peer: Peer) -> None:
    worker_of(scene, peer, prepare=lose_soon)
    peer.says("status", Answer(503, {"error": "no", "code": "INTERNAL_ERROR"}))
    begin(scene, FAR)
    is_over(scene)
    assert children(scene)[0].error_detail["cause"] == "status_unreachable"


def test_a_worker_that_dies_while_it_asks_is_followed_by_one_that_goes_on_asking(
    scene: Scene, peer: Peer
) -> None:
    peer.status("active")
    first = worker_of(scene, peer, "first")
    begin(scene, FAR)
    seen(lambda: peer.heard("status"), "the child is asked")
    scene.crew.worker("second", prepare=ask_often).ready()
    first.kill()
    count = len(peer.heard("status"))
    seen(lambda: len(peer.heard("status")) > count + 1, "it is asked again")
    peer.status(BROUGHT)
    is_over(scene)

    assert results(scene) == [{"far": "out"}]
    assert len(peer.heard("start")) == 1


def test_a_remote_companion_that_blocks_answers_its_spawn_and_its_wait(
    far: Scene, peer: Peer
) -> None:
    again = {"status": "completed", "output": "second"}
    peer.status({"status": "completed", "output": "first"}, BROUGHT, "active", again)
    spawn = {"agent": "far", "name": "f", "initialMessage": "go"}
    far.start(
        "s1",
        {"calls": [call("companion__spawnAgent", **spawn)]},
        {"calls": [call("companion__sendMessage", name="f", message="more")]},
        {"calls": [call("companion__waitForResult", name="f")]},
        DONE,
        agent_type="parent",
    )
    is_over(far)
    assert results(far) == ["first", {"delivered": True}, "second"]
    assert children(far)[0].output == "second"
