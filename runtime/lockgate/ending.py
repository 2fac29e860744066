"""The end of an attempt: finish_run or suspend_run as a DBOS transactional step.

The effect, its outcome and DBOS's record of it are one commit, so no kill comes between them. The
only file that knows SQLAlchemy, since DBOS has no datasource of plain psycopg.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from dbos import AsyncSQLAlchemyDatasource, DBOSPortableJSONSerializer
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from lockgate.database import LINK, is_weather
from lockgate.rules import steps
from lockgate.worker_outcomes import FinishRunResult, SuspendRunResult

SERIALIZER = DBOSPortableJSONSerializer()
RULES: dict[str, Callable[..., Awaitable[FinishRunResult | SuspendRunResult]]] = {
    "finish_run": steps.finish_run,
    "suspend_run": steps.suspend_run,
}
POOL_SIZE = 8  # ends at the same time; each holds its connection for one commit
LONGEST_WAIT_S = 30.0


class _Weather(BaseException):
    """Carries weather past DBOS, which would record an Exception as the step's result."""


def sqlalchemy_url(url: str) -> str:
    """Name psycopg as the driver of a plain Postgres URL."""
    scheme, separator, rest = url.partition("://")
    return f"postgresql+psycopg{separator}{rest}" if scheme.startswith("postgres") else url


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
            connect_args={"prepare_threshold": None, "application_name": "lockgate end", **LINK},
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
        """Call finish_run or suspend_run inside the workflow's one step; weather is waited out.

        Result  outcome and runStatus; of a suspension that was continued at once also runId
        """
        wait_s = 0.1
        while True:
            try:
                return await self._datasource.run_tx_step_async(
                    {"name": "end", "isolation_level": "READ COMMITTED"}, self._end, rule, given
                )
            except _Weather:
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    async def _end(self, rule: str, given: dict[str, Any]) -> dict[str, Any]:
        try:
            connection = await self._datasource.sql_session().connection()
            raw = await connection.get_raw_connection()
            conn: Any = raw.driver_connection
            answer = await RULES[rule](conn, **given)
        except Exception as error:
            if is_weather(error) or is_weather(getattr(error, "orig", None) or error):
                raise _Weather from error
            raise
        told = {"outcome": str(answer.outcome), "runStatus": answer.run_status}
        run_id = getattr(answer, "run_id", None)
        return told if run_id is None else {**told, "runId": str(run_id)}
