"""The views: a question each, readable by the dashboard's role, which can do nothing else."""

from datetime import timedelta

import psycopg
import pytest

from tests.rules.recovery.test_forget_workers import boots
from tests.rules.recovery.test_list_stranded_runs import runs_read
from tests.support.clock import Clock
from tests.support.cluster import Database
from tests.support.door import Door


def test_the_dashboard_reads_every_view_and_no_table_and_calls_no_other_rule(
    rules_db: Database, db: Door
) -> None:
    db.finished()
    views = [
        row.name
        for row in db.rows(
            "select relname as name from pg_class"
            " where relnamespace = 'lockgate'::regnamespace and relkind = 'v'"
        )
    ]
    with rules_db.connect() as connection:
        connection.execute("set role lockgate_dashboard")
        for view in views:
            connection.execute(f"select * from lockgate.{view}".encode())
        connection.execute("select * from lockgate.recovery_metrics()")
        for forbidden in (
            "select * from lockgate_store.sessions",
            "select * from lockgate.status('s1')",
            "select * from lockgate.sweep('worker-1')",
            "select * from dbos.workflow_status",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden.encode())

    assert {"run_ledger", "session_overview", "worker_health", "stranded_runs"} <= set(views)


def test_the_ledger_says_how_a_run_began_and_ended_and_what_it_cost(db: Door, clock: Clock) -> None:
    drive = db.driven(request_key="k1")
    clock.forward(seconds=90)
    drive.finish("failed", error_detail={"message": "boom", "code": "provider_unavailable"})
    row = db.row("select * from lockgate.run_ledger")

    assert (row.session_id, row.turn, row.agent_type, row.drive) == ("s1", 1, "support", "start")
    assert (row.status, row.request_key, row.error_code) == ("failed", "k1", "provider_unavailable")
    assert row.duration.total_seconds() == 90


def test_the_overview_says_what_a_session_does_now(db: Door) -> None:
    run_id = db.driven(user_id="ann", tags=["a"]).run_id
    db.create_session("never-run")
    rows = {row.session_id: row for row in db.rows("select * from lockgate.session_overview")}

    assert (rows["s1"].current_run_id, rows["s1"].run_status) == (run_id, "running")
    assert (rows["s1"].user_id, rows["s1"].tags) == ("ann", ["a"])
    assert (rows["never-run"].status, rows["never-run"].current_run_id) == ("active", None)


def test_live_runs_says_what_each_run_waits_for(db: Door) -> None:
    db.beat("worker-1")
    db.start("waiting")
    db.drive(db.start("driven").run_id, worker_id="worker-1")
    db.drive(db.start("stranded").run_id, worker_id="unheard-of")
    db.finished("ended")
    rows = db.rows("select * from lockgate.live_runs")

    assert {row.session_id: row.phase for row in rows} == {
        "waiting": "waiting",
        "driven": "driven",
        "stranded": "stranded",
    }


def test_settlement_lag_says_how_far_a_consumer_is_behind(db: Door) -> None:
    db.call_many("claim_settlements", consumer="hook")
    db.call_many("claim_settlements", consumer="webhook:crm")
    runs = [db.finished("s1"), db.finished("s2")]
    for run_id in runs:
        db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook")
    rows = db.rows("select * from lockgate.settlement_lag")

    assert {row.consumer: row.undelivered for row in rows} == {"hook": 0, "webhook:crm": 2}


def test_worker_health_says_what_each_boot_has_recovered(db: Door, clock: Clock) -> None:
    for _ in range(3):  # a sweep counts once its worker is there for long enough to judge
        db.beat("worker-1")
        clock.forward(seconds=4)
    db.beat("worker-1", takeovers=1, recoveries=2, exhausted=3, fenced_writes=4, swept_ago_ms=50)
    db.beat("worker-2")
    rows = {row.worker_id: row for row in db.rows("select * from lockgate.worker_health")}
    one, two = rows["worker-1"], rows["worker-2"]

    assert (one.takeovers, one.recoveries, one.exhausted, one.fenced_writes) == (1, 2, 3, 4)
    assert (two.takeovers, two.recoveries, two.exhausted, two.fenced_writes) == (0, 0, 0, 0)
    assert one.heartbeat_at - one.swept_at == timedelta(milliseconds=50)
    assert one.sweep_age > one.heartbeat_age
    assert (two.swept_at, two.sweep_age) == (None, None)


def test_worker_health_looks_at_each_running_run_once_however_many_boots_there_are(
    db: Door,
) -> None:
    boots(db, 200)
    for number in range(3):
        db.drive(db.start(f"s{number}").run_id, worker_id=f"boot-{number % 2 + 1}")
    db.execute("analyze lockgate_store.runs, lockgate_store.workers")
    with db.connection.transaction():
        before = runs_read(db)
        rows = db.rows("select * from lockgate.worker_health where live_runs > 0")
        read = runs_read(db) - before

    assert {row.worker_id: row.live_runs for row in rows} == {"boot-1": 2, "boot-2": 1}
    assert read == 3


def test_stranded_runs_says_why_nothing_executes_a_run(db: Door, clock: Clock) -> None:
    db.beat("worker-1", lease_ms=60_000)
    db.drive(db.start("driven").run_id, worker_id="worker-1")
    lost = db.drive(db.start("lost").run_id, worker_id="unheard-of")
    clock.forward(seconds=6)
    row = db.row("select * from lockgate.stranded_runs")

    assert (row.session_id, row.run_id, row.finding) == ("lost", lost.run_id, "owner_dead")
    assert (row.owner_id, row.attempt, row.lost_attempts) == ("unheard-of", 1, 0)
