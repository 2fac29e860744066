"""Streams: an attempt's writer, and readers that follow a session from a cursor.

Chunks reach readers as rows. One watcher per process asks for all its readers at once which streams
have moved; a writer in the same process tells it directly. No reader holds a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

import structlog

from lockgate.database import Database
from lockgate.errors import LockgateError, RunSuperseded, error_detail
from lockgate.outcomes import AppendChunksOutcome, ReadStreamOutcome, ReadStreamResult
from lockgate.rules import streams as rules

BATCH = 32  # chunks in one commit at most
BATCH_WAIT_S = 0.03  # how long the first chunk of a batch waits for others
WATCH_EVERY_S = 0.04  # how often the watcher asks while somebody reads
PAGE = 256  # chunks in one read
IDLE_S = 5.0  # a reader hears from us at least this often: proxies cut what is silent for ten

Key: TypeAlias = tuple[str, str]
log = structlog.get_logger(__name__)


class ChunkTooLarge(LockgateError):
    """A chunk has more than 1 MiB."""

    code = "tool_execution_failed"


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
class _Watch:
    """One reader's wish to be woken when its stream moves past what it has."""

    key: Key
    seen: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)


class Watcher:
    """Wakes readers: one question for all of them, and none while nobody reads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watches: dict[Key, set[_Watch]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watch(self, key: Key) -> Iterator[_Watch]:
        """Watch a stream for as long as the block lasts."""
        watch = _Watch(key)
        self._watches.setdefault(key, set()).add(watch)
        if self._task is None:
            self._task = asyncio.create_task(self._ask_on())
        try:
            yield watch
        finally:
            self._watches[key].discard(watch)
            if not self._watches[key]:
                del self._watches[key]

    def tell(self, key: Key) -> None:
        """Wake a stream's readers at once: something was committed in this very process."""
        for watch in self._watches.get(key, ()):
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
            moved = await self._database.call(
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
        Errors  NoStream before anything is delivered; StoreUnavailable
        Source  design section 8; reference/http.md 2.5
        """
        began = caught_up = False
        with self.watcher.watch((tenant_id, session_id)) as watch:
            while True:
                watch.moved.clear()  # subscribed first, then read: what comes meanwhile wakes us
                page = await self.database.call(
                    rules.read_stream,
                    session_id=session_id,
                    after=after,
                    limit=PAGE,
                    epoch=epoch,
                    acting_user_id=acting_user_id,
                    tenant_id=tenant_id,
                )
                if page.outcome is ReadStreamOutcome.NO_STREAM and not began:
                    raise NoStream
                began = True
                if page.outcome is not ReadStreamOutcome.PAGE:
                    yield _lost_cursor(page, after or 0, epoch)
                    return
                head, epoch = page.head_sequence or 0, page.epoch
                for chunk in _chunks(page):
                    after = chunk.sequence
                    yield chunk
                after = after if after is not None else head
                if after < head:
                    continue
                if page.stream_status != "active":
                    assert page.run_id is not None
                    yield Closed(str(page.stream_status), page.run_id, page.final or {})
                    return
                if not caught_up:
                    caught_up = True
                    yield CaughtUp(after)
                watch.seen = after
                while not await _woken(watch):
                    yield Idle()


async def _woken(watch: _Watch) -> bool:
    try:
        # wait_for would make a task for every wait, and may swallow a cancellation.
        async with asyncio.timeout(IDLE_S):
            await watch.moved.wait()
    except TimeoutError:
        return False
    return True


def _chunks(page: ReadStreamResult) -> Iterator[Chunk]:
    for place, (run_id, text) in enumerate(
        zip(page.run_ids or (), page.chunks or (), strict=True), start=page.first_sequence
    ):
        yield Chunk(place, run_id, text, page.epoch or "")


def _lost_cursor(page: ReadStreamResult, after: int, epoch: str | None) -> Truncated | Rewound:
    if page.outcome is ReadStreamOutcome.TRUNCATED:
        return Truncated(page.floor_sequence or 0)
    head = page.head_sequence or 0
    # A cursor of this life can only be ahead; one of another life says nothing about this one.
    return Rewound(at=head if page.epoch == epoch or epoch is None else 0, head=head)


class StreamWriter:
    """Writes one attempt's chunks in batches, and learns from each commit whether it still may.

    After a failure every further call raises it. `on_halt` is called once, from the background,
    when the attempt is fenced or a stop stands: whoever streams a model cancels the call.
    """

    def __init__(
        self,
        database: Database,
        *,
        session_id: str,
        run_id: UUID,
        attempt: int,
        head: int,
        tenant_id: str = "",
        tell: Callable[[Key], None] = lambda _key: None,
    ) -> None:
        self._database = database
        self._key = (tenant_id, session_id)
        self._run_id = run_id
        self._attempt = attempt
        self._head = head
        self._tell = tell
        self._pending: list[str] = []
        self._lock = asyncio.Lock()
        self._flush: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self.on_halt: Callable[[], object] | None = None
        self.stop_kind: str | None = None

    async def put(self, chunk: str) -> None:
        """Put one chunk on the stream, soon."""
        self._raise_failure()
        self._pending.append(chunk)
        if len(self._pending) >= BATCH:
            await self.drain()
        elif self._flush is None:
            self._flush = asyncio.create_task(self._flush_later())

    async def drain(self) -> None:
        """Return once everything that was put is stored."""
        async with self._lock:
            while self._pending:
                batch = self._pending[:BATCH]
                await self._append(batch)
                del self._pending[: len(batch)]
        self._raise_failure()

    async def check(self) -> None:
        """Ask whether the attempt still stands; raise RunSuperseded where it does not."""
        self._raise_failure()
        async with self._lock:
            await self._append([])

    def moved(self, head: int, stop_kind: str | None) -> None:
        """Take over where a commit of the attempt has left the stream."""
        self._head = head
        self._tell(self._key)
        self.halt(stop_kind)

    def halt(self, stop_kind: str | None) -> None:
        """Note that a stop stands on the run, and say so once."""
        if stop_kind is not None and self.stop_kind is None:
            self._call_halt()
        self.stop_kind = stop_kind or self.stop_kind

    def lose(self) -> None:
        """Note that the attempt was handed over: every further call says so."""
        self._failure = RunSuperseded()
        self._call_halt()

    async def close(self) -> None:
        """Drop what was not stored: the attempt is over."""
        self._pending.clear()
        if self._flush is not None:
            self._flush.cancel()
            await asyncio.gather(self._flush, return_exceptions=True)

    async def _flush_later(self) -> None:
        await asyncio.sleep(BATCH_WAIT_S)
        self._flush = None
        try:
            await self.drain()
        except Exception as failure:  # noqa: BLE001 - kept, and raised by the next call.
            self._failure = failure
            self._call_halt()

    async def _append(self, chunks: list[str]) -> None:
        tenant_id, session_id = self._key
        answer = await self._database.call(
            rules.append_chunks,
            session_id=session_id,
            run_id=self._run_id,
            attempt=self._attempt,
            after=self._head,
            chunks=chunks,
            tenant_id=tenant_id,
        )
        match answer.outcome:
            case AppendChunksOutcome.FENCED:
                raise RunSuperseded
            case AppendChunksOutcome.TOO_LARGE:
                raise ChunkTooLarge
            case AppendChunksOutcome.APPENDED | AppendChunksOutcome.REPEATED:
                self.moved(answer.head_sequence or self._head, answer.stop_kind)

    def _call_halt(self) -> None:
        if self.on_halt is not None:
            self.on_halt()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
