"""A commit landed and its answer did not come, or came while the drive was being stopped."""

from typing import Any

import psycopg
import pytest
from dbos import AsyncSQLAlchemyDatasource

from lockgate import EntryRefused, RunHandle
from tests.support.fault_proxy import Proxy, proxy_to
from tests.support.proves import case
from tests.support.scene import Scene, call, said
from tests.support.stage_agents import SCRIPTED

SAID = "All is done, " + "word by word " * 14 + "to the end."
INTERRUPTED = '{"outcome":"finished","runStatus":"interrupted"}'
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


def lose_the_first_end() -> None:
    """Have the first commit of an end land, and lose its answer."""
    own = AsyncSQLAlchemyDatasource.run_tx_step_async
    lost: list[bool] = []

    async def ended(self: AsyncSQLAlchemyDatasource, *args: Any) -> Any:
        answer = await own(self, *args)
        if not lost:
            lost.append(True)
            raise psycopg.OperationalError("the answer is lost")
        return answer

    AsyncSQLAlchemyDatasource.run_tx_step_async = ended  # type: ignore[assignment, method-assign]


@pytest.mark.parametrize(
    ("turn", "end", "told"),
    [
        (
            {"say": "Hello."},
            '{"outcome":"finished","runStatus":"completed"}',
            ["on_agent_complete"],
        ),
        (
            {"calls": [call("pick")]},
            '{"outcome":"suspended","runStatus":"suspended_client_tool"}',
            [],
        ),
    ],
)
def test_an_end_that_landed_unanswered_is_told_as_one_of_its_own(
    scene: Scene, turn: dict[str, Any], end: str, told: list[str]
) -> None:
    worker = scene.crew.worker(prepare=lose_the_first_end)
    worker_id = worker.ready()
    run = scene.start("s1", turn, agent_type="hooked")
    assert scene.returned(scene.settled(run).drive_id) == end
    for name in told:
        scene.stage.seen("hook", name=name, run=run.run_id)
    worker.terminate()
    worker.ended()
    health = "select fenced_writes from lockgate_store.workers where worker_id = %s"
    assert scene.door.row(health, worker_id).fenced_writes == 0, "as its last beat told"


def interrupted(scene: Scene, run: RunHandle) -> None:
    """Record a stop on a run, as an entry that interrupts it does."""
    hasty = scene.runtime(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=1)
    with pytest.raises(EntryRefused):
        scene.run(hasty.start("s1", SCRIPTED, said({"say": "Never."})))
    assert scene.door.run(run.run_id).stop_kind == "interrupt"


def stop_is_heard(proxy: Proxy) -> None:
    """Wait until the worker has asked for stops, and once more, after one was recorded."""
    for _ in range(2):
        proxy.arm("see", b"lockgate.list_stops(").seen()


def test_a_stop_that_meets_a_result_on_its_way_keeps_the_attempt(
    scene: Scene, proxy: Proxy
) -> None:
    """The result is committed and its answer is not there yet, when the stop cancels the tools."""
    scene.crew.worker("A", url=proxy.url).ready()
    fault = proxy.arm("hold", b"lockgate.commit_result(")
    run = scene.start("s1", {"calls": [call("add", a=1, b=2), call("hold", gate="never")]})
    fault.seen()
    interrupted(scene, run)
    scene.stage.seen("waits", gate="never")
    stop_is_heard(proxy)
    fault.release()
    row = scene.settled(run)
    assert row.status == "interrupted"
    assert scene.returned(row.drive_id) == INTERRUPTED, "its own attempt ended it"
    assert [part["success"] for part in scene.door.messages()[2].content] == [True, False]


def test_a_stop_that_meets_chunks_on_their_way_keeps_what_was_said(
    scene: Scene, proxy: Proxy
) -> None:
    """A full batch is committed and its answer is not there yet, when the stop cancels the call."""
    scene.crew.worker("A", url=proxy.url).ready()
    fault = proxy.arm("hold", b"lockgate.append_chunks(")
    words = " ".join(str(number) for number in range(40))
    run = scene.start("s1", {"say": f"{words} @hold:never"})
    fault.seen()
    interrupted(scene, run)
    stop_is_heard(proxy)
    fault.release()
    row = scene.settled(run)
    assert row.status == "interrupted"
    assert scene.returned(row.drive_id) == INTERRUPTED, "its own attempt ended it"
    (reply,) = [m for m in scene.door.messages() if m.role == "assistant"]
    assert words.startswith(reply.content[0]["text"].strip())
    assert scene.text("s1").strip() == reply.content[0]["text"].strip()
