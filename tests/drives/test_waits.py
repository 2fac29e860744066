"""A wait for the next attempt ends by the database's clock, whatever a worker's says."""

import time
from functools import partial
from uuid import uuid4

from tests.support.scene import Scene
from tests.support.seen import seen

AN_HOUR_S = 3_600
RAISES_ONCE = {"say": "@first @raise:odd @later fine"}


def clock_off(by_s: float) -> None:
    """Let this process believe that it is earlier or later than it is."""
    own = time.time
    time.time = lambda: own() + by_s


def test_a_clock_that_is_behind_lets_no_run_wait_longer(scene: Scene) -> None:
    scene.crew.worker(prepare=partial(clock_off, -AN_HOUR_S)).ready()
    run = scene.start("s1", RAISES_ONCE)
    row = scene.settled(run)

    assert (row.status, row.attempt) == ("completed", 3)  # The end is one more.
    assert row.claimed_at >= row.dispatch_at


def test_a_clock_that_is_ahead_lets_no_run_begin_before_its_time(scene: Scene) -> None:
    """Another workflow that is due by that clock, and by no other, shows when it was asked."""
    run = scene.start("s1", RAISES_ONCE)
    scene.door.execute(
        "insert into lockgate_store.recoveries (session_id, run_id, attempts, next_at)"
        " values ('s1', %s, 50, clock_timestamp())",
        run.run_id,
    )
    scene.crew.worker(max_attempts=100, prepare=partial(clock_off, AN_HOUR_S)).ready()
    seen(lambda: scene.door.run(run.run_id).attempt == 2, "it waits for a minute")
    other = uuid4()
    scene.door.execute(
        "select dbos.enqueue_workflow('other', 'other', array[]::json[], workflow_id => %s,"
        " delay_until_epoch_ms => (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000,"
        " application_name => 'lockgate')",
        str(other),
    )
    seen(lambda: scene.door.workflow(other).status == "ENQUEUED", "it was due by that clock")

    assert scene.door.workflow(scene.door.run(run.run_id).drive_id).status == "DELAYED"
