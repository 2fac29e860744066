"""The figures by which recovery is operated, in Prometheus's text format.

Whoever reaches the port may read them, so they name no session, user, tenant or worker. All but the
reconnects are the database's: a worker that has no port is in them too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from litestar import Router, get
from litestar.response.base import ASGIResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from lockgate import StoreUnavailable
from lockgate.worker_outcomes import RecoveryMetricsResult
from lockgate_api.answers import UNAVAILABLE, declared
from lockgate_api.documents import METRICS
from lockgate_api.front import AnyRequest, front_of

TEXT_FORMAT = "text/plain; version=0.0.4"  # the framework adds the charset
READ_S = 5.0  # how long Postgres may take; a scraper waits for ten
COUNTERS = {
    "takeovers": "Runs that a sweep handed from what no longer executed them to a new attempt",
    "recoveries": "Drives that were entered as recover: claimed after another attempt",
    "exhausted": "Runs that ended because their crash-loop budget was spent",
    "fenced_writes": "Writes of lost attempts that were refused",
}
GAUGES = {
    "workers_alive": "Workers whose last heartbeat is younger than their lease",
    "workers_draining": "Those of them that take no new drives",
    "stranded_runs": "Running runs that nothing executes",
    "running_runs": "Running runs",
    "undelivered_settlements": "Settlements that a registered consumer has not marked yet",
}
AGES = {
    "heartbeat_age": "Seconds since the last heartbeat of the alive worker that was silent longest",
    "sweep_age": "Seconds since the last sweep of any worker ended",
}
RECONNECTS = "Links of this process to the database that were lost and opened again"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one scrape is told. An age that nobody has is told without a sample."""

    stored: RecoveryMetricsResult
    reconnects: int

    def collect(self) -> Iterator[Metric]:
        """Yield each figure with its help, as a registry does."""
        for name, told in COUNTERS.items():
            yield CounterMetricFamily(f"lockgate_{name}", told, getattr(self.stored, name))
        for name, told in GAUGES.items():
            yield GaugeMetricFamily(f"lockgate_{name}", told, getattr(self.stored, name))
        for name, told in AGES.items():
            age_ms = getattr(self.stored, f"{name}_ms")
            age_s = None if age_ms is None else age_ms / 1000
            yield GaugeMetricFamily(f"lockgate_{name}_seconds", told, age_s)
        yield CounterMetricFamily("lockgate_reconnects", RECONNECTS, self.reconnects)


@get("/metrics", responses={**METRICS, **declared(UNAVAILABLE)})
async def metrics(request: AnyRequest) -> ASGIResponse:
    """Answer the figures, once Postgres has."""
    runtime = front_of(request).runtime
    try:
        async with asyncio.timeout(READ_S):
            stored = await runtime.recovery_metrics()
    except TimeoutError as late:
        raise StoreUnavailable from late
    registry = CollectorRegistry()
    registry.register(Figures(stored, runtime.database.reconnects))
    return ASGIResponse(body=generate_latest(registry), media_type=TEXT_FORMAT)


def metrics_routes() -> Router:
    """Return the route for scrapers; nobody need say who he is."""
    return Router("/", route_handlers=[metrics], tags=["health"])
