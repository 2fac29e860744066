"""Streams for drives: write one attempt's chunks in batches, never a transaction per token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from uuid import UUID

from lockgate.chunks import is_too_large
from lockgate.database import Database
from lockgate.errors import LockgateError, RunSuperseded
from lockgate.rules import streams as rules
from lockgate.streams import Key
from lockgate.tally import Tally
from lockgate.worker_outcomes import AppendChunksOutcome, StepOutcome, StepResult

BATCH = 32  # chunks in one commit at most
BATCH_WAIT_S = 0.03  # how long the first chunk of a batch waits for others


class Answer(Protocol):
    """What each rule of an attempt answers; the outcome `fenced` says that the attempt is over."""

    @property
    def outcome(self) -> str: ...
    @property
    def head_sequence(self) -> int | None: ...
    @property
    def stop_kind(self) -> str | None: ...


Answered = TypeVar("Answered", bound=Answer)


class ChunkTooLarge(LockgateError):
    """A chunk has more than 1 MiB."""

    code = "tool_execution_failed"


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
        tell: Callable[[Key, int], None] = lambda _key, _head: None,
        tally: Tally | None = None,
    ) -> None:
        self._database = database
        self._key = (tenant_id, session_id)
        self._run_id = run_id
        self._attempt = attempt
        self._head = head
        self._tell = tell
        self._tally = tally or Tally()
        self._pending: list[str] = []
        self._lock = asyncio.Lock()
        self._flush: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self.on_halt: Callable[[], object] | None = None
        self.stop_kind: str | None = None

    async def put(self, chunk: str) -> None:
        """Put one chunk on the stream, soon. Errors  ChunkTooLarge; RunSuperseded"""
        self._raise_failure()
        if is_too_large(chunk):
            raise ChunkTooLarge
        self._pending.append(chunk)
        if len(self._pending) >= BATCH:
            await self.drain()
        elif self._flush is None:
            self._flush = asyncio.create_task(self._flush_later())

    async def drain(self) -> None:
        """Return once everything that was put is stored."""
        # Shielded, as commit is: a stop cancels whoever waits here. A commit whose answer nobody
        # took would leave our head behind, and the next one would take us for fenced.
        await asyncio.shield(self._drain())

    async def _drain(self) -> None:
        async with self._writing():
            await self._append_pending()

    async def _append_pending(self) -> None:
        while self._pending:
            batch = self._pending[:BATCH]
            await self._append(batch)
            del self._pending[: len(batch)]

    async def check(self) -> None:
        """Ask whether the attempt still stands; raise RunSuperseded where it does not."""
        async with self._writing():
            await self._append([])

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """One write at a time, and none after one that failed.

        Head and pending chunks change together, in the task that saw the answer; a write whose
        answer nobody saw leaves both in doubt, so it is the last.
        """
        async with self._lock:
            self._raise_failure()
            try:
                yield
            except Exception as failure:
                self._failure = failure
                raise

    async def commit(self, rule: Callable[[list[str]], Awaitable[StepResult]]) -> StepResult:
        """Call a rule that saves a part of a step, with all that was put before it.

        The chunks are part of its commit, and its answer says where it has left the stream.
        Errors  RunSuperseded when the attempt is over
        """
        return await asyncio.shield(self._commit(rule))

    async def _commit(self, rule: Callable[[list[str]], Awaitable[StepResult]]) -> StepResult:
        async with self._writing():
            chunks = self._pending[:]
            answer = await rule(chunks)
            if answer.outcome is StepOutcome.FENCED:
                raise self._refused()
            del self._pending[: len(chunks)]
            self._moved(answer.head_sequence, answer.stop_kind)
            return answer

    async def beside(self, rule: Callable[[], Awaitable[Answered]]) -> Answered:
        """Call a rule that takes no chunks of ours but may write its own, after those put before.

        Errors  RunSuperseded when the attempt is over
        """
        return await asyncio.shield(self._beside(rule))

    async def _beside(self, rule: Callable[[], Awaitable[Answered]]) -> Answered:
        async with self._writing():
            await self._append_pending()
            answer = await rule()
            if answer.outcome == StepOutcome.FENCED:
                raise self._refused()
            self._moved(answer.head_sequence or self._head, answer.stop_kind)
            return answer

    def _moved(self, head: int, stop_kind: str | None) -> None:
        self._head = head
        self._tell(self._key, head)
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
        except Exception:  # noqa: BLE001 - the writer keeps it, and the next call raises it.
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
            case AppendChunksOutcome.FENCED if not chunks:
                raise RunSuperseded  # it only asked
            case AppendChunksOutcome.FENCED:
                raise self._refused()
            case AppendChunksOutcome.TOO_LARGE:
                raise ChunkTooLarge
            case AppendChunksOutcome.APPENDED | AppendChunksOutcome.REPEATED:
                self._moved(answer.head_sequence or self._head, answer.stop_kind)

    def _refused(self) -> RunSuperseded:
        """Count a write that the attempt may not make any more, and return what says so."""
        self._tally.fenced_writes += 1
        return RunSuperseded()

    def _call_halt(self) -> None:
        if self.on_halt is not None:
            self.on_halt()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
