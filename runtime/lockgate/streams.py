"""Streams for readers: follow a session from a cursor, on any process.

Chunks reach readers as rows. One watcher per process asks for all its readers at once which streams
have moved; a writer in the same process tells it directly. No reader holds a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

import structlog

from lockgate.database import Database
from lockgate.errors import LockgateError, StoreUnavailable, error_detail
from lockgate.outcomes import ReadStreamOutcome, ReadStreamResult
from lockgate.rules import streams as rules

WATCH_EVERY_S = 0.04  # how often the watcher asks while somebody reads
PAGE = 256  # chunks in one read
CLOSED = 2**63 - 1  # told of a stream that has closed: past every head
END_ALONE = CLOSED - 1  # seen by a watch that wants to be woken by the end and nothing else
IDLE_S = 5.0  # a reader hears from us at least this often: proxies cut what is silent for ten

Key: TypeAlias = tuple[str, str]
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One stored chunk; `text` is its JSON, as stored. Sequence and epoch are a cursor."""

    sequence: int
    run_id: UUID
    text: str
    epoch: str


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All that was stored is delivered; live chunks follow. Once per reader."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing for IDLE_S: time for a keep-alive."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The stream has ended, failed or paused, and everything on it is delivered.

    final  {status, output?, error?, errorDetail?}; status is completed, interrupted, failed, …
    """

    stream_status: str
    run_id: UUID
    final: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Truncated:
    """The cursor lies below what is kept: take the snapshot and its cursor."""

    floor: int


@dataclass(frozen=True, slots=True)
class Rewound:
    """The cursor is ahead of the stream, or from another life of the session."""

    at: int
    head: int


StreamEvent: TypeAlias = Chunk | CaughtUp | Idle | Closed | Truncated | Rewound


class NoStream(LockgateError):
    """There is no such session, or it never had a run."""

    code = "NOT_FOUND"


@dataclass(slots=True, eq=False)
class Watch:
    """One reader's wish to be woken when its stream moves past what it has."""

    key: Key
    seen: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)


class Watcher:
    """Wakes readers: one question for all of them, and none while nobody reads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watches: dict[Key, set[Watch]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watch(self, key: Key) -> Iterator[Watch]:
        """Watch a stream for as long as the block lasts."""
        watch = Watch(key)
        self._watches.setdefault(key, set()).add(watch)
        if self._task is None:
            self._task = asyncio.create_task(self._ask_on())
        try:
            yield watch
        finally:
            self._watches[key].discard(watch)
            if not self._watches[key]:
                del self._watches[key]

    def tell(self, key: Key, head: int = CLOSED) -> None:
        """Wake readers at once: in this very process a stream was moved to `head`, or closed."""
        for watch in self._watches.get(key, ()):
            if head > watch.seen:
                watch.moved.set()

    async def close(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _ask_on(self) -> None:
        while self._watches:
            try:
                await self._ask()
            except Exception as error:  # noqa: BLE001 - it may not end while somebody waits.
                log.warning("watcher.failed", error=error_detail(error), readers=len(self._watches))
            await asyncio.sleep(WATCH_EVERY_S)
        self._task = None

    async def _ask(self) -> None:
        heads = {
            key: min(watch.seen for watch in waiting)
            for key, watches in self._watches.items()
            if (waiting := [watch for watch in watches if not watch.moved.is_set()])
        }
        if heads:
            moved = await self._database.read(
                rules.moved_streams,
                tenant_ids=[tenant_id for tenant_id, _ in heads],
                session_ids=[session_id for _, session_id in heads],
                heads=list(heads.values()),
            )
            for stream in moved:
                self.tell((stream.tenant_id, stream.session_id))


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads streams: the database, and this process's watcher."""

    database: Database
    watcher: Watcher

    async def follow(
        self,
        session_id: str,
        *,
        after: int | None = None,
        epoch: str | None = None,
        acting_user_id: str | None = None,
        tenant_id: str = "",
    ) -> AsyncIterator[StreamEvent]:
        """Deliver a session's chunks after a cursor, each once and in order, then what ended it.

        after   the last sequence the reader has; None begins at the oldest that is kept
        epoch   of the stream the cursor came from, if the reader knows it
        Errors  NoStream and StoreUnavailable before anything is delivered; a database that is away
                after that is waited for
        Source  design section 8; reference/http.md 2.5
        """
        place = _Place(after, epoch)
        whose = {"acting_user_id": acting_user_id, "tenant_id": tenant_id}
        with self.watcher.watch((tenant_id, session_id)) as watch:
            while True:
                watch.moved.clear()  # subscribed first, then read: what comes meanwhile wakes us
                page = await self._page(session_id, place, whose)
                if page is None:
                    yield Idle()
                    await asyncio.sleep(WATCH_EVERY_S)
                    continue
                for event in place.move(page):
                    yield event
                if place.is_over:
                    return
                if place.has_all:
                    watch.seen = place.after or 0
                    while not await woken(watch, IDLE_S):
                        yield Idle()

    async def _page(
        self, session_id: str, place: _Place, whose: dict[str, Any]
    ) -> ReadStreamResult | None:
        """Read on; None where a reader who has begun finds the database away."""
        try:
            return await self.database.read(
                rules.read_stream,
                session_id=session_id,
                after=place.after,
                limit=PAGE,
                epoch=place.epoch,
                **whose,
            )
        except StoreUnavailable:
            if not place.has_begun:
                raise
            return None


@dataclass(slots=True)
class _Place:
    """Where a reader is: what it has, of which stream, and whether anything can follow."""

    after: int | None
    epoch: str | None
    has_begun: bool = False
    has_caught_up: bool = False
    has_all: bool = False
    is_over: bool = False

    def move(self, page: ReadStreamResult) -> Iterator[StreamEvent]:
        """Go on over a page, and say what is on it."""
        if page.outcome is ReadStreamOutcome.NO_STREAM and not self.has_begun:
            raise NoStream
        self.has_begun = True
        if page.outcome is not ReadStreamOutcome.PAGE:
            self.is_over = True
            yield _lost_cursor(page, self.epoch)
            return
        head, self.epoch = page.head_sequence or 0, page.epoch
        for chunk in _chunks(page):
            self.after = chunk.sequence
            yield chunk
        self.after = head if self.after is None else self.after
        self.has_all = self.after >= head
        if not self.has_all:
            return
        if page.stream_status != "active":
            assert page.run_id is not None
            self.is_over = True
            yield Closed(str(page.stream_status), page.run_id, page.final or {})
        elif not self.has_caught_up:
            self.has_caught_up = True
            yield CaughtUp(self.after)


async def woken(watch: Watch, within_s: float) -> bool:
    """Wait until a watch is woken; False when it was not within the time."""
    try:
        # wait_for would make a task for every wait, and may swallow a cancellation.
        async with asyncio.timeout(within_s):
            await watch.moved.wait()
    except TimeoutError:
        return False
    return True


def _chunks(page: ReadStreamResult) -> Iterator[Chunk]:
    for place, (run_id, text) in enumerate(
        zip(page.run_ids or (), page.chunks or (), strict=True), start=page.first_sequence
    ):
        yield Chunk(place, run_id, text, page.epoch or "")


def _lost_cursor(page: ReadStreamResult, epoch: str | None) -> Truncated | Rewound:
    if page.outcome is ReadStreamOutcome.TRUNCATED:
        return Truncated(page.floor_sequence or 0)
    head = page.head_sequence or 0
    # A cursor of this life can only be ahead; one of another life says nothing about this one.
    return Rewound(at=head if page.epoch == epoch or epoch is None else 0, head=head)
