"""A worker's promise to be there, renewed from a thread of its own.

The loop on which drives run may be blocked by an application's code; the promise must not be.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

import psycopg
import structlog

from lockgate.clock import now_s
from lockgate.database import LINK
from lockgate.link import Link
from lockgate.rules import recovery as rules
from lockgate.tally import Tally

BEATS_PER_LEASE = 5
FIRST_BEAT_WAIT_S = 30.0
LAST_BEAT_WAIT_S = 1.0

log = structlog.get_logger(__name__)


class Heartbeat:
    """Beats until it is stopped. Nothing is admitted or refused by what is remembered here.

    tally    what each beat tells besides
    on_lost  called, in the thread of the beats, when a link is lost and made anew
    """

    def __init__(
        self,
        database_url: str,
        worker_id: str,
        lease_ms: int,
        tally: Tally,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._url = database_url
        self._worker_id = worker_id
        self._lease_ms = lease_ms
        self._tally = tally
        self._on_lost = on_lost
        self._last_beat_s = 0.0
        self._lapses = 0
        self._first = threading.Event()
        self._stopping = threading.Event()
        self._draining = False
        self._thread = threading.Thread(target=self._run, name="lockgate-heartbeat", daemon=True)

    async def start(self) -> None:
        """Begin to beat, and return once the first beat is written.

        Errors  TimeoutError when the database does not answer
        """
        self._thread.start()
        if not await asyncio.to_thread(self._first.wait, FIRST_BEAT_WAIT_S):
            self._stopping.set()
            raise TimeoutError("the first heartbeat was not written: is the database there?")

    async def stop(self) -> None:
        """Beat once more as draining, and end the thread; a silent database is not waited for."""
        self._draining = True
        self._stopping.set()
        await asyncio.to_thread(self._thread.join, LAST_BEAT_WAIT_S)

    def drain(self) -> None:
        """Say with the next beats that this worker takes no new drives."""
        self._draining = True

    def is_fresh(self) -> bool:
        """Say whether the last beat is younger than half a lease."""
        return self._is_young(self._last_beat_s, now_s())

    def lapses(self) -> int:
        """Say how often a beat came later than half a lease after the one before.

        Whoever was frozen is fresh again at its first beat, and would not know that it was away;
        where its own clock was frozen too, it is the database that says so.
        """
        return self._lapses

    def _is_young(self, beat_s: float, at_s: float) -> bool:
        return at_s - beat_s < self._lease_ms / 2000

    def _run(self) -> None:
        asyncio.run(self._beat_on())

    async def _beat_on(self) -> None:
        every_s = self._lease_ms / 1000 / BEATS_PER_LEASE
        while not self._stopping.is_set():
            try:
                await self._beat_over_one_link(every_s)
            except Exception as error:  # noqa: BLE001 - who stops beating is taken for dead, alive.
                state = getattr(error, "sqlstate", None)
                self._on_lost()
                with contextlib.suppress(Exception):  # A log that breaks must end no beat, either.
                    log.warning("heartbeat.failed", worker_id=self._worker_id, sqlstate=state)
                await asyncio.to_thread(self._stopping.wait, every_s)

    async def _beat_over_one_link(self, every_s: float) -> None:
        conn = await Link.connect(
            self._url,
            autocommit=True,
            prepare_threshold=None,
            application_name="lockgate heartbeat",
            **LINK,  # type: ignore[arg-type]  # libpq's parameters are numbers and texts
        )
        conn.answer_s = every_s * 2  # A silent link is left soon; a lease of seconds lasts longer.
        async with conn:
            while not self._stopping.is_set():
                await self._beat(conn)
                await asyncio.to_thread(self._stopping.wait, every_s)
            await self._beat(conn)

    async def _beat(self, conn: psycopg.AsyncConnection) -> None:
        before_s = now_s()
        answer = await rules.heartbeat(
            conn,
            worker_id=self._worker_id,
            lease_ms=self._lease_ms,
            draining=self._draining,
            takeovers=self._tally.takeovers,
            recoveries=self._tally.recoveries,
            exhausted=self._tally.exhausted,
            fenced_writes=self._tally.fenced_writes,
            swept_ago_ms=self._tally.swept_ago_ms(),
        )
        was_late = self._first.is_set() and not self._is_young(self._last_beat_s, before_s)
        self._lapses += was_late or answer.was_late
        self._last_beat_s = before_s
        self._first.set()
