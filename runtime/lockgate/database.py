"""The database as a process uses it: one pool, and each rule called over it as one transaction.

Weather (a lost link, a deadlock, a full server) is retried here a bounded number of times; what
comes out is a row, a broken rule, or StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import random
import select
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from lockgate.errors import StoreUnavailable
from lockgate.rules.call import Connection
from lockgate.rules.recovery import listen_for_drives, wake_workers
from lockgate.strict_json import loads_stored

# Its warnings quote a link's host and port. That a call had no connection, we tell ourselves.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

P = ParamSpec("P")
Row = TypeVar("Row")

POOL_SIZE = 8  # past the server's cores more connections only lengthen the tail
TRIES = 4  # one call and three more; then the caller is told
FIRST_WAIT_S = 0.05  # doubled for each further try, and spread, so that rivals do not meet again
POOL_WAIT_S = 5.0  # how long a call waits for a free connection before it is weather
# A dead link is noticed within this time, also while a statement waits for its answer.
LINK = {"connect_timeout": 5, "tcp_user_timeout": 15_000, "keepalives_idle": 10}

WEATHER = ("40001", "40003", "40P01", "08", "53", "57", "25P03", "25006", "0A000")
# The rules are being remade at this moment: the next call finds the new ones.
REMADE = ("42883", "42704", "XX000")
FINAL_WEATHER = ("55P03", "57014")  # a bound that the caller set has been reached: not tried again


class _LinkGone(psycopg.OperationalError):
    """The server has left a link that stood idle, so nothing was said over it."""


def is_weather(error: BaseException) -> bool:
    """Say whether an error tells of the database's state and not of the call."""
    if isinstance(error, PoolTimeout | OSError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith((*WEATHER, *REMADE, *FINAL_WEATHER))


def was_rolled_back(error: BaseException) -> bool:
    """Say whether it is certain that nothing was committed: the server itself refused."""
    if isinstance(error, PoolTimeout | _LinkGone):
        return True
    state = getattr(error, "sqlstate", None)
    return state is not None and not state.startswith(("08", "40003", "57P"))


@dataclass(slots=True)
class _Pulse:
    """When a call over a pool was last answered."""

    at_s: float = 0.0


class Database:
    """A pool of connections over which rules are called, each call one transaction."""

    def __init__(self, url: str, *, direct_url: str | None = None, pool_size: int = POOL_SIZE):
        """direct_url  a connection past any pooler, for LISTEN; None where there is none"""
        self.url = url
        self.direct_url = direct_url
        self._is_patient = False
        self._pulse = _Pulse()
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            open=False,
            min_size=min(2, pool_size),
            max_size=pool_size,
            timeout=POOL_WAIT_S,
            kwargs={
                "autocommit": True,
                # A transaction pooler gives each statement another server connection.
                "prepare_threshold": None,
                "application_name": "lockgate",
                **LINK,
            },
            configure=_configure,
        )

    def patient(self) -> Database:
        """Return the same pool for work that goes on whoever waits: its calls wait their turn.

        A call that gets no connection in time finds the database away, or this process busy. While
        other calls are answered it is the latter, and for a drive that is no failure.
        """
        view = copy.copy(self)
        view._is_patient = True
        return view

    async def open(self) -> None:
        """Open the pool; a database that is away is met by the calls, not here."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def call(
        self,
        rule: Callable[Concatenate[Connection, P], Awaitable[Row]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Row:
        """Call a rule, and once more after weather.

        A rule called so may be called again when its outcome is unknown: it knows its own repeat by
        an id chosen before (run, attempt and sequence, step and ordinal). Three answer a repeat
        less exactly: create_session says `existing`, submit_tool_result `already_completed`, and
        claim_settlements leases what comes next.
        Errors  RuleBroken; StoreUnavailable once the tries are used up
        """
        unknown = False
        for attempt in range(1, TRIES + 1):
            try:
                return await self.call_once(rule, *args, **kwargs)
            except (psycopg.Error, PoolTimeout, OSError) as error:
                if not is_weather(error):
                    raise
                unknown = unknown or not was_rolled_back(error)
                state = getattr(error, "sqlstate", None)
                if attempt == TRIES or state in FINAL_WEATHER or isinstance(error, PoolTimeout):
                    raise StoreUnavailable(committed=None if unknown else False) from error
                if state is None or state.startswith(("08", "57P")):
                    await self._pool.check()
                await asyncio.sleep(FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.0))
        raise AssertionError("unreachable: the last try returns or raises")

    async def call_once(
        self,
        rule: Callable[Concatenate[Connection, P], Awaitable[Row]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Row:
        """Call a rule one time; weather comes out raw, with the outcome unknown."""
        async with AsyncExitStack() as stack:
            conn = await self._lent(stack)
            if _has_news(conn):
                await conn.close()
                raise _LinkGone
            answer = await rule(conn, *args, **kwargs)
        self._pulse.at_s = time.monotonic()
        return answer

    async def _lent(self, stack: AsyncExitStack) -> Connection:
        while True:
            try:
                return await stack.enter_async_context(self._pool.connection())
            except PoolTimeout:
                if not self._is_patient or time.monotonic() - self._pulse.at_s > POOL_WAIT_S:
                    raise

    async def wake_workers(self) -> None:
        """Tell other processes' workers of a committed drive; those hear it that can listen."""
        await self.call(wake_workers)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[AsyncIterator[Any]]:
        """Yield what wake_workers sends; needs direct_url."""
        conn = await psycopg.AsyncConnection.connect(
            self.direct_url or self.url,
            autocommit=True,
            prepare_threshold=None,
            application_name="lockgate listen",
            **LINK,  # type: ignore[arg-type]  # libpq's parameters are numbers and texts
        )
        async with conn:
            await listen_for_drives(conn)
            yield conn.notifies()


def _has_news(conn: Connection) -> bool:
    """Say whether something came over a link that stood idle: as a rule, its end.

    What is said over a dead link fails with nobody knowing whether it was heard. So we look first.
    """
    if sys.platform == "win32":
        return bool(select.select([conn.fileno()], (), (), 0)[0])
    look = select.poll()  # select() knows no descriptor above 1,023
    look.register(conn.fileno(), select.POLLIN)
    return bool(look.poll(0))


async def _configure(conn: Connection) -> None:
    set_json_loads(loads_stored, conn)
