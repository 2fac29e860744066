"""An end that the server will not write: handed over where it is there, waited for where not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest

from lockgate import ending
from tests.support.scene import Scene
from tests.support.stage import Stage

HELLO = {"say": "Hello."}


def fails_to_end(stage: Stage, error: type[psycopg.Error], times: int) -> None:
    """Have this process's first ends fail, each try so."""
    ending.FIRST_WAIT_S, ending.LONGEST_WAIT_S = 0.001, 0.02
    own, left = ending.RULES["finish_run"], [times]

    async def finish(conn: Any, **given: Any) -> Any:
        stage.note("end", run=str(given["run_id"]))
        if left[0]:
            left[0] -= 1
            raise error("no")
        return await own(conn, **given)

    ending.RULES["finish_run"] = finish


def failing(scene: Scene, error: type[psycopg.Error], times: int) -> Callable[[], None]:
    return partial(fails_to_end, scene.stage, error, times)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.QueryCanceled,
        psycopg.errors.LockNotAvailable,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.InternalError_,
    ],
)
def test_an_end_that_the_server_refuses_again_and_again_spends_the_budget(
    scene: Scene, error: type[psycopg.Error]
) -> None:
    scene.crew.worker(max_attempts=2, prepare=failing(scene, error, 10**6)).ready()
    row = scene.settled(scene.start("s1", HELLO))

    assert (row.status, row.error_detail["code"]) == ("failed", "framework_auto_resume_exhausted")
    assert row.error_detail["cause"]["code"] == "framework_store_unavailable"
    assert len(scene.stage.notes("end")) == 2 * ending.REFUSED
    assert len(scene.stage.notes("model")) == 1, "its step is committed"


def test_an_abort_ends_a_run_whose_end_is_refused(scene: Scene) -> None:
    refuses = failing(scene, psycopg.errors.QueryCanceled, 10**6)
    scene.crew.worker(prepare=refuses).ready()
    run = scene.start("s1", HELLO)
    scene.stage.seen("end")
    scene.door.call("abort", session_id="s1", run_id=run.run_id, reason="enough")
    row = scene.settled(run)

    assert (row.status, row.stop_kind) == ("failed", "abort")
    assert row.error_detail["code"] != "framework_auto_resume_exhausted"


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (psycopg.OperationalError, 3 * ending.REFUSED),
        (psycopg.errors.CannotConnectNow, 3 * ending.REFUSED),
        (psycopg.errors.ReadOnlySqlTransaction, 3 * ending.REFUSED),
        (psycopg.errors.DeadlockDetected, ending.REFUSED - 1),
    ],
)
def test_an_end_waits_for_a_database_that_is_away_and_costs_no_attempt(
    scene: Scene, error: type[psycopg.Error], times: int
) -> None:
    scene.crew.worker(prepare=failing(scene, error, times)).ready()
    row = scene.settled(scene.start("s1", HELLO))

    assert (row.status, row.output, row.attempt) == ("completed", "Hello.", 2)
    assert len(scene.stage.notes("end")) == times + 1
