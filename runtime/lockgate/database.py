"""The database as a process uses it: one pool, and each rule called over it as one transaction.

Weather (a lost link, a deadlock, a full server) is retried here a bounded number of times, and each
try has a bound of its own; what comes out is a row, a broken rule, or StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import random
import select
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from lockgate.errors import StoreUnavailable
from lockgate.link import ANSWER_S, Link, LinkSilent
from lockgate.rules.call import Connection
from lockgate.rules.recovery import listen_for_drives, wake_workers
from lockgate.strict_json import loads_stored
from lockgate.weather import FINAL_WEATHER, LinkGone, is_weather, was_rolled_back

# Its warnings quote a link's host and port. That a call had no connection, we tell ourselves.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

P = ParamSpec("P")
Row = TypeVar("Row")

POOL_SIZE = 8  # past the server's cores more connections only lengthen the tail
TRIES = 4  # one call and three more; then the caller is told
FIRST_WAIT_S = 0.05  # doubled for each further try, and spread, so that rivals do not meet again
POOL_WAIT_S = 5.0  # how long a call waits for a free connection before it is weather
FIRST_READ_S = 0.5  # of a read's first try; doubled for each further one, for a busy server
REMAKE_S = 0.5  # how soon a connection that could not be made is given up and tried anew
# What a network swallows is noticed by the kernel within this time, whoever waits for it.
LINK = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
HEAR_S = 5.0  # a link that only listens is asked this often whether it is still there

SILENCES = 2  # the second one says that it is not this link

# How long the statement of the call under way may take.
_answer_s: ContextVar[float] = ContextVar("_answer_s", default=ANSWER_S)


@dataclass(slots=True)
class _Pulse:
    """How a pool does: when a call was last answered, and when every link was last made anew."""

    answered_at: float = 0.0
    renewed_at: float = 0.0
    reconnects: int = 0


class Database:
    """A pool of connections over which rules are called, each call one transaction."""

    def __init__(self, url: str, *, direct_url: str | None = None, pool_size: int = POOL_SIZE):
        """direct_url  a connection past any pooler, for LISTEN; None where there is none"""
        self.url = url
        self.direct_url = direct_url
        self._is_patient = False
        self._pulse = _Pulse()
        self._pool: AsyncConnectionPool[Link] = AsyncConnectionPool(
            url,
            connection_class=Link,
            open=False,
            min_size=min(2, pool_size),
            max_size=pool_size,
            timeout=POOL_WAIT_S,
            # The pool would wait longer after each failure, and sleep on when the database is back.
            reconnect_timeout=REMAKE_S,
            reconnect_failed=_tried_anew,
            kwargs={
                "autocommit": True,
                # A transaction pooler gives each statement another server connection.
                "prepare_threshold": None,
                "application_name": "lockgate",
                **LINK,
            },
            configure=_configure,
        )

    @property
    def reconnects(self) -> int:
        """How many links of this process were lost, and had to be made anew."""
        return self._pulse.reconnects

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
        A try lasts ANSWER_S, and as long as an entry has said that it will wait for its session.
        Errors  RuleBroken; StoreUnavailable once the tries are used up
        """
        asked: Any = kwargs.get("concurrent_entry_timeout_ms", 0)
        bounds_s = [ANSWER_S + asked / 1000] * TRIES
        return await self._tried(bounds_s, rule, *args, **kwargs)

    async def read(
        self,
        rule: Callable[Concatenate[Connection, P], Awaitable[Row]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Row:
        """Call a rule that writes nothing and waits for no lock; a dead link is told sooner.

        Errors  as call
        """
        bounds_s = [FIRST_READ_S * 2**attempt for attempt in range(TRIES)]
        return await self._tried(bounds_s, rule, *args, **kwargs)

    async def _tried(
        self,
        bounds_s: list[float],
        rule: Callable[Concatenate[Connection, P], Awaitable[Row]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Row:
        unknown, silences = False, 0
        for attempt, bound_s in enumerate(bounds_s, start=1):
            within = _answer_s.set(bound_s)
            try:
                return await self.call_once(rule, *args, **kwargs)
            except (psycopg.Error, PoolTimeout, OSError) as error:
                if not is_weather(error):
                    raise
                unknown = unknown or not was_rolled_back(error)
                silences += isinstance(error, LinkSilent)
                gives_up = attempt == len(bounds_s) or isinstance(error, PoolTimeout)
                if gives_up or silences == SILENCES or _is_final(error, bound_s):
                    raise StoreUnavailable(committed=None if unknown else False) from error
            finally:
                _answer_s.reset(within)
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
            conn.answer_s = _answer_s.get()
            try:
                if _has_news(conn):
                    await conn.close()
                    raise LinkGone
                answer = await rule(conn, *args, **kwargs)
            except (psycopg.Error, OSError) as error:
                if conn.closed:
                    await self._renew(conn, error)
                raise
        self._pulse.answered_at = time.monotonic()
        return answer

    async def _lent(self, stack: AsyncExitStack) -> Link:
        while True:
            try:
                return await stack.enter_async_context(self._pool.connection())
            except PoolTimeout:
                silent_s = time.monotonic() - self._pulse.answered_at
                if not self._is_patient or silent_s > POOL_WAIT_S:
                    raise

    async def _renew(self, lost: Link, error: Exception) -> None:
        """Have every link made anew that is as old as one that was lost: they lead the same way.

        What leads to a standby says so by itself, and may have been the only one.
        """
        self.count_reconnect()
        is_own = isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
        if lost.made_at > self._pulse.renewed_at and not is_own:
            self._pulse.renewed_at = time.monotonic()
            await self._pool.drain()

    def count_reconnect(self) -> None:
        """Count a link that was lost; a worker's heartbeat counts its own here too."""
        self._pulse.reconnects += 1

    async def wake_workers(self) -> None:
        """Tell other processes' workers of a committed drive; those hear it that can listen."""
        await self.call(wake_workers)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[AsyncIterator[Any]]:
        """Yield what wake_workers sends; needs direct_url.

        What was sent while nobody listened is lost: it is only a hint.
        """
        link = await Link.connect(
            self.direct_url or self.url,
            autocommit=True,
            prepare_threshold=None,
            application_name="lockgate listen",
            **LINK,  # type: ignore[arg-type]  # libpq's parameters are numbers and texts
        )
        try:
            async with link:
                await listen_for_drives(link)
                async with aclosing(_heard(link)) as heard:
                    yield heard
        except (psycopg.Error, OSError):
            self.count_reconnect()
            raise


async def _heard(link: Link) -> AsyncGenerator[Any, None]:
    while True:
        async with aclosing(link.notifies(timeout=HEAR_S)) as notices:
            async for notice in notices:
                yield notice
        link.answer_s = FIRST_READ_S
        await listen_for_drives(link)  # Nothing new; but only an answer says that it still hears.


async def _tried_anew(pool: AsyncConnectionPool[Link]) -> None:
    """Go on making a connection that somebody waits for."""
    if pool.get_stats().get("requests_waiting"):
        await pool.check()


def _is_final(error: BaseException, bound_s: float) -> bool:
    """Say whether trying again would only wait again: not for a read that had a short bound."""
    return getattr(error, "sqlstate", None) in FINAL_WEATHER and bound_s >= ANSWER_S


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
