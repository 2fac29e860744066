"""S18: the winner dies before its commit, or right after it."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from tests.cases.conftest import Pair
from tests.support.crew_parts import Part
from tests.support.proves import case
from tests.support.scene import script
from tests.support.seen import seen
from tests.support.stage import Stage
from tests.support.stage_agents import SCRIPTED, staged_runtime

HELLO = {"say": "Hello."}
WAITING = (
    "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'lockgate'"
)


@case(18)
def test_who_dies_before_its_commit_leaves_the_key_to_the_next(pair: Pair) -> None:
    """Another process holds the session's row in its own start of the same request."""
    pair.door.create_session("s1", agent_type=SCRIPTED)
    with (
        closing(pair.scene.database.connect(autocommit=False)) as winner,
        ThreadPoolExecutor() as threads,
    ):
        winner.execute(
            "select lockgate.start('s1', %s, jsonb_build_object('message', %s::text), 'k1')",
            [SCRIPTED, script(HELLO)],
        )
        answer = threads.submit(pair.b.start, "s1", HELLO, key="k1")
        seen(lambda: pair.door.rows(WAITING), "B waits for the row")
        pair.door.execute("select pg_terminate_backend(%s, 5000)", winner.info.backend_pid)
        assert answer.result(10).json()["status"] == "started"
    assert pair.b.settled("s1")["status"] == "completed"
    assert pair.runs("s1") == len(pair.inputs("s1")) == 1


def start_and_die(part: Part, stage: Stage) -> None:
    """Start a run with a key, and die of it before anybody could hear of it."""

    async def act() -> Any:
        runtime = await staged_runtime(stage).open(part.url)
        await runtime.start("s1", SCRIPTED, script(HELLO), request_key="k1")
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(act())


@case(18)
def test_who_dies_after_its_commit_leaves_a_run_that_is_driven(pair: Pair) -> None:
    assert pair.scene.crew.act("starts", start_and_die).ended() == -signal.SIGKILL
    again = pair.b.started("s1", HELLO, key="k1")

    assert again["status"] == "attached"
    assert pair.b.settled("s1")["output"] == "Hello."
    assert pair.runs("s1") == pair.models(again["runId"]) == 1
    assert pair.a.started("s1", HELLO, key="k1")["runId"] == again["runId"]
