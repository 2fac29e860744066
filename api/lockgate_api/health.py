"""Whether the process lives, and whether it can serve. Postgres is asked, DBOS never."""

from __future__ import annotations

import asyncio

from litestar import Router, get
from litestar.response.base import ASGIResponse

from lockgate import StoreUnavailable
from lockgate_api.answers import UNAVAILABLE, JsonAnswer, declared
from lockgate_api.documents import HealthAnswer, answers
from lockgate_api.front import AnyRequest, front_of

READY_S = 1.0  # how long Postgres may take to answer; a prober asks again anyway
NO_SESSION = "-"  # any id: the answer itself does not matter


@get("/healthz", responses=answers(HealthAnswer, errors={}))
async def healthz() -> ASGIResponse:
    """Answer, because the process does."""
    return JsonAnswer({"status": "ok"})


@get("/readyz", responses=answers(HealthAnswer, errors=declared(UNAVAILABLE)))
async def readyz(request: AnyRequest) -> ASGIResponse:
    """Answer once Postgres has answered one cheap rule."""
    try:
        async with asyncio.timeout(READY_S):
            await front_of(request).runtime.status(NO_SESSION)
    except TimeoutError as late:
        raise StoreUnavailable from late
    return JsonAnswer({"status": "ok"})


def health_routes() -> Router:
    """Return the routes for probers; nobody need say who he is."""
    return Router("/", route_handlers=[healthz, readyz], tags=["health"])
