"""A link to the database on which nobody waits for ever.

A statement that is not answered in time is cancelled, and where the cancellation is not heard
either, the link is closed: what was said over it may have been carried out. So it is where packets
are swallowed without a word, and through a pooler too, which keeps no timeout of a session. A link
that leads to a standby is closed as well, for the next one may lead to the primary.
"""

from __future__ import annotations

import time
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.pq.abc import PGconn

ANSWER_S = 10.0  # far above any rule of ours that waits for no lock
CANCEL_S = 0.5  # how long a cancellation may take to be heard, and then to be answered
LOOK_S = 0.1  # as psycopg: how often a wait looks whether it is over

Found = TypeVar("Found")


class LinkSilent(psycopg.OperationalError):
    """The server answers neither a statement nor its cancellation."""


class Link(psycopg.AsyncConnection[tuple[Any, ...]]):
    """A connection whose every wait for an answer has a bound.

    answer_s  how long a statement may take from now on
    made_at   when it was made, by the monotonic clock
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.answer_s = ANSWER_S
        self.made_at = time.monotonic()

    async def wait(
        self,
        gen: PQGen[Found],
        interval: float = LOOK_S,
        timeout: float | None = None,  # noqa: ASYNC109 - psycopg's own name
    ) -> Found:
        """Consume what psycopg waits for; a timeout of the caller's own is his.

        Errors  QueryCanceled where the server has heard that we gave up; LinkSilent
        """
        if timeout is not None:
            return await super().wait(gen, interval, timeout)
        try:
            return await super().wait(gen, interval, self.answer_s)
        except errors._WaitTimeout:
            pass
        except errors.ReadOnlySqlTransaction:
            self.pgconn.finish()
            raise
        try:
            await self.cancel_safe(timeout=CANCEL_S)
            return await super().wait(gen, interval, CANCEL_S)
        except psycopg.Error as error:
            raise _unheard(error, self.pgconn) from None

    async def _try_cancel(self, *, timeout: float = CANCEL_S) -> None:  # noqa: ASYNC109
        """Cancel for a caller who is cancelled himself, and is not to wait for a dead link."""
        await super()._try_cancel(timeout=min(timeout, CANCEL_S))


class BlockingLink(psycopg.Connection[tuple[Any, ...]]):
    """The same for DBOS, which asks from threads of its own; what it asks waits for no lock."""

    def wait(
        self, gen: PQGen[Found], interval: float = LOOK_S, timeout: float | None = None
    ) -> Found:
        """Consume what psycopg waits for, as Link does."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, ANSWER_S)
        except errors._WaitTimeout:
            pass
        except errors.ReadOnlySqlTransaction:
            self.pgconn.finish()
            raise
        try:
            self.cancel_safe(timeout=CANCEL_S)
            return super().wait(gen, interval, CANCEL_S)
        except psycopg.Error as error:
            raise _unheard(error, self.pgconn) from None


def _unheard(error: psycopg.Error, pgconn: PGconn) -> psycopg.Error:
    """Return the server's own answer to a cancellation; where there is none, close the link."""
    if error.sqlstate is not None:
        return error
    pgconn.finish()
    return LinkSilent("no answer in time, nor to the cancellation")
