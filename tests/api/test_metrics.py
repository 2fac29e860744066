"""GET /metrics: recovery's figures for Prometheus, only where they are asked for."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from psycopg_pool import PoolTimeout

from lockgate_api import metrics
from tests.api.conftest import MakeApi
from tests.api.live import Event, texts
from tests.api.rig import Api, driven
from tests.api.test_app import document
from tests.support.door import Door
from tests.support.proves import case

FIGURES = {
    "lockgate_workers_alive": "gauge",
    "lockgate_workers_draining": "gauge",
    "lockgate_takeovers": "counter",
    "lockgate_recoveries": "counter",
    "lockgate_exhausted": "counter",
    "lockgate_fenced_writes": "counter",
    "lockgate_heartbeat_age_seconds": "gauge",
    "lockgate_sweep_age_seconds": "gauge",
    "lockgate_stranded_runs": "gauge",
    "lockgate_running_runs": "gauge",
    "lockgate_undelivered_settlements": "gauge",
    "lockgate_reconnects": "counter",
}
WORDS = [f"word {number};" for number in range(20)]
END_POOL = """
select pg_terminate_backend(pid) from pg_stat_activity
 where datname = current_database() and application_name = 'lockgate'
"""


@pytest.fixture
def watched(make_api: MakeApi) -> Api:
    """An application that knows nobody, and serves its figures to anybody."""
    return make_api({"authenticate": lambda request: None, "metrics": True})


def families(api: Api) -> Mapping[str, Metric]:
    answer = api.get("/metrics")
    assert answer.status_code == 200, answer.text
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def figures(api: Api) -> dict[str, float]:
    """Return each sample by its name; none has labels, so none can name anybody."""
    samples = [sample for family in families(api).values() for sample in family.samples]
    assert [sample.labels for sample in samples if sample.labels] == []
    return {sample.name: sample.value for sample in samples}


def test_nothing_is_served_where_it_was_not_asked_for(api: Api) -> None:
    assert api.get("/metrics").status_code == 404
    assert "/metrics" not in document(api)["paths"]


def test_whoever_reaches_it_may_read_it_and_nothing_else(watched: Api) -> None:
    answer = watched.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert watched.get("/sessions/s1/status").status_code == 401
    assert set(document(watched)["paths"]["/metrics"]["get"]["responses"]) == {"200", "503"}


def test_every_figure_has_its_type_and_its_help(watched: Api) -> None:
    read = families(watched)
    assert {name: family.type for name, family in read.items()} == FIGURES
    assert all(family.documentation for family in read.values())


def test_an_age_that_nobody_has_is_no_sample(watched: Api, db: Door) -> None:
    ages = {"lockgate_heartbeat_age_seconds", "lockgate_sweep_age_seconds"}
    assert ages & set(figures(watched)) == set()
    db.beat()
    db.execute("update lockgate_store.workers set regular_since = regular_since - interval '1 h'")
    db.beat(swept_ago_ms=90_000)
    told = figures(watched)
    assert 0 <= told["lockgate_heartbeat_age_seconds"] < 60
    assert 90 <= told["lockgate_sweep_age_seconds"] < 150


def test_the_figures_are_the_databases(watched: Api, db: Door) -> None:
    db.beat("busy", takeovers=2, recoveries=3, exhausted=1, fenced_writes=5, lease_ms=60_000)
    db.beat("leaving", takeovers=1, draining=True, lease_ms=60_000)
    db.call_many("claim_settlements", consumer="hook")
    db.finished("over")
    db.drive(db.start("kept").run_id, worker_id="busy")
    lost = db.drive(db.start("lost").run_id, worker_id="busy")
    db.set_workflow(lost.run_id, status="ERROR")
    told = figures(watched)
    assert {name: told[f"lockgate_{name}"] for name in ("workers_alive", "workers_draining")} == {
        "workers_alive": 2,
        "workers_draining": 1,
    }
    totals = ("takeovers", "recoveries", "exhausted", "fenced_writes")
    assert [told[f"lockgate_{name}_total"] for name in totals] == [3, 3, 1, 5]
    assert (told["lockgate_running_runs"], told["lockgate_stranded_runs"]) == (2, 1)
    assert told["lockgate_undelivered_settlements"] == 1


def test_they_name_no_session_user_tenant_or_worker(watched: Api, db: Door) -> None:
    names = ("session-of-ann", "ann-herself", "tenant-of-ann", "worker-of-ann")
    session_id, user_id, tenant_id, worker_id = names
    db.beat(worker_id)
    db.start(session_id, user_id=user_id, tenant_id=tenant_id)
    text = watched.get("/metrics").text
    assert "lockgate_running_runs 1.0" in text
    assert [name for name in names if name in text] == []


@pytest.mark.parametrize("is_slow", [False, True])
def test_it_is_unavailable_while_postgres_is_away(
    watched: Api, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        if is_slow:
            await asyncio.Event().wait()
        raise PoolTimeout("host=10.0.0.5")

    monkeypatch.setattr(metrics, "READ_S", 0.05)
    monkeypatch.setattr(watched.runtime.database, "call_once", away)
    answer = watched.get("/metrics")
    assert answer.status_code == 503
    assert answer.json()["code"] == "framework_store_unavailable"
    assert "10.0.0.5" not in answer.text


@case(41)
def test_links_that_are_lost_and_opened_again_are_counted_and_a_reader_loses_nothing(
    make_api: MakeApi, db: Door
) -> None:
    api = make_api({"metrics": True})
    drive = driven(api, db)

    async def many_at_once() -> None:
        await asyncio.gather(*(api.runtime.status("s1") for _ in range(32)))

    api.run(many_at_once())
    assert figures(api)["lockgate_reconnects_total"] == 0, "a pool that grows has lost nothing"

    async def read() -> list[Event]:
        async with api.live("/sessions/s1/sse") as live:
            seen = [await live.event()]
            db.execute(END_POOL)
            for word in WORDS:
                drive.append(word)
            drive.finish()
            while seen[-1].name != "end":
                seen.append(await live.event())
            return seen

    assert texts(api.run(read())) == WORDS
    lost = figures(api)["lockgate_reconnects_total"]
    assert 1 <= lost <= 4, "the pool has four links at most"
    assert figures(api)["lockgate_reconnects_total"] == lost, "who reads them opens none"
