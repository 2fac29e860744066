"""The end of an attempt: finish_run or suspend_run as a DBOS transactional step.

The effect, its outcome and DBOS's record of it are one commit, so no kill comes between them. The
only file that knows SQLAlchemy, since DBOS has no datasource of plain psycopg.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from dbos import AsyncSQLAlchemyDatasource, DBOSPortableJSONSerializer
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from lockgate.database import LINK
from lockgate.errors import StoreUnavailable
from lockgate.link import BlockingLink, Link
from lockgate.rules import runs, steps
from lockgate.weather import is_refusal, is_weather
from lockgate.worker_outcomes import FinishRunResult, SuspendRunResult

SERIALIZER = DBOSPortableJSONSerializer()
RULES: dict[str, Callable[..., Awaitable[FinishRunResult | SuspendRunResult]]] = {
    "finish_run": steps.finish_run,
    "suspend_run": steps.suspend_run,
}
POOL_SIZE = 8  # ends at the same time; each holds its connection for one commit
FIRST_WAIT_S = 0.1  # doubled for each further try
LONGEST_WAIT_S = 2.0  # whoever waits for the end waits as long when the database is back
REFUSED = 8  # times within 7 s of waits: longer than the rules take to be remade, or a rival


class _Weather(BaseException):
    """Carries weather past DBOS, which would record an Exception as the step's result."""


def sqlalchemy_url(url: str) -> str:
    """Write what libpq reads, also a list of hosts, as SQLAlchemy and DBOS read it."""
    said = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    hosts, ports = said.pop("host", ""), said.pop("port", "")
    if "," in hosts or hosts.startswith("/"):
        said |= {"host": hosts, "port": ports}
        hosts = ports = ""
    return URL.create(
        "postgresql+psycopg",
        username=said.pop("user", None),
        password=said.pop("password", None),
        database=said.pop("dbname", None),
        host=hosts or None,
        port=int(ports) if ports else None,
        query={name: value for name, value in said.items() if value},
    ).render_as_string(hide_password=False)


def blocking_link(url: str) -> BlockingLink:
    """Make a link of DBOS's own pool."""
    return BlockingLink.connect(
        url,
        prepare_threshold=None,
        application_name="lockgate dbos",
        **LINK,  # type: ignore[arg-type]  # libpq's parameters are numbers and texts
    )


async def _end_link(url: str) -> Link:
    return await Link.connect(
        url,
        prepare_threshold=None,
        application_name="lockgate end",
        **LINK,  # type: ignore[arg-type]
    )


class EndStep:
    """Ends attempts; opened before DBOS is launched, over an engine that DBOS does not share."""

    def __init__(self, engine: AsyncEngine, datasource: AsyncSQLAlchemyDatasource) -> None:
        self._engine = engine
        self._datasource = datasource

    @classmethod
    async def open(cls, url: str, *, dbos_schema: str) -> EndStep:
        """Make the engine and the datasource; DBOS's tables must be there."""
        engine = create_async_engine(
            sqlalchemy_url(url),
            pool_size=POOL_SIZE,
            max_overflow=0,
            pool_pre_ping=False,
            async_creator=partial(_end_link, url),
        )

        datasource = await AsyncSQLAlchemyDatasource.create(
            sqlalchemy_url(url),
            engine=engine,
            schema=dbos_schema,
            run_migrations=False,
            serializer=SERIALIZER,
        )
        return cls(engine, datasource)

    async def close(self) -> None:
        """Close the engine."""
        await self._engine.dispose()

    async def __call__(self, rule: str, **given: Any) -> dict[str, Any]:
        """Call finish_run or suspend_run inside the workflow's one step.

        A database that is away is waited for; what it refuses again and again is handed over. An
        end that landed unanswered is no fenced one: it is told as it was said before its commit.
        Result  outcome and runStatus; of a suspension that was continued at once also runId
        Errors  StoreUnavailable: the server was there, and refused REFUSED times
        """
        wait_s, refused = FIRST_WAIT_S, 0
        said: dict[str, Any] = {}

        async def end() -> dict[str, Any]:
            nonlocal said
            answer = await self._end(rule, given)
            if answer["outcome"] != "fenced" or not await self._has_landed(said, given):
                said = answer
            return said

        while True:
            try:
                return await self._datasource.run_tx_step_async(
                    {"name": "end", "isolation_level": "READ COMMITTED"}, end
                )
            except (_Weather, Exception) as error:
                # Also what DBOS says beside our rule, in its transaction: its rollback is ours.
                own = _own(error)
                if not _is_weather(own):
                    raise
                refused += is_refusal(own)
                if refused == REFUSED:
                    raise StoreUnavailable(committed=False) from own
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    async def _conn(self) -> Any:
        connection = await self._datasource.sql_session().connection()
        return (await connection.get_raw_connection()).driver_connection

    async def _has_landed(self, said: dict[str, Any], given: dict[str, Any]) -> bool:
        """Say whether what an earlier try said is what stands: nobody has taken the run since."""
        if not said:
            return False
        run = {name: given[name] for name in ("tenant_id", "session_id", "run_id")}
        with _weather_passes():
            stored = await runs.get_run(await self._conn(), **run)
        return (stored.status, stored.attempt) == (said["runStatus"], given["attempt"] + 1)

    async def _end(self, rule: str, given: dict[str, Any]) -> dict[str, Any]:
        with _weather_passes():
            answer = await RULES[rule](await self._conn(), **given)
        told = {"outcome": str(answer.outcome), "runStatus": answer.run_status}
        run_id = getattr(answer, "run_id", None)
        return told if run_id is None else {**told, "runId": str(run_id)}


@contextmanager
def _weather_passes() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if _is_weather(_own(error)):
            raise _Weather from error
        raise


def _own(error: BaseException) -> BaseException:
    """Return what the driver has said, inside of what DBOS and SQLAlchemy made of it."""
    said = error.__cause__ if isinstance(error, _Weather) and error.__cause__ else error
    return said.orig if isinstance(said, DBAPIError) and said.orig is not None else said


def _is_weather(error: BaseException) -> bool:
    """Say whether an error of the driver, or of its pool, tells of the database's state."""
    return isinstance(error, PoolExhausted) or is_weather(error)
