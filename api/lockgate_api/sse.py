"""A stream as server-sent events, contract v2; and the one response that all streams are sent by.

A body that ends without a terminal event is a drop, never an end. Source: reference/http.md 2.5.
"""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, assert_never

import structlog
from litestar.types import Receive, Scope, Send

from lockgate.errors import error_detail, scrub_detail
from lockgate.streams import CaughtUp, Chunk, Closed, Idle, Rewound, StreamEvent, Truncated
from lockgate.strict_json import dumps
from lockgate_api.answers import OK
from lockgate_api.front import Drain

KEEP_ALIVE = b": keep-alive\n\n"
SLOW_READER_S = 60.0  # one frame not taken within this time: the reader is sent away
GOODBYE_S = 1.0  # how long the last frame of a reader who is sent away may take

_HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

log = structlog.get_logger(__name__)


async def frames(events: AsyncIterator[StreamEvent]) -> AsyncGenerator[bytes, None]:
    """Write each event of a stream as it is sent."""
    async for event in events:
        yield frame(event)


def frame(event: StreamEvent) -> bytes:
    """Write one event: one line of data in ASCII, so that no parser finds a line end in a text."""
    match event:
        case Chunk():
            # The chunk's text is passed on as it is stored: it is JSON, and nobody need read it.
            text = event.text if event.text.isascii() else _NON_ASCII.sub(_escaped, event.text)
            return (
                f"event: chunk\nid: {event.sequence}-{event.epoch}\n"
                f'data: {{"sequence":{event.sequence},"runId":"{event.run_id}","chunk":{text}}}\n\n'
            ).encode("ascii")
        case Idle():
            return KEEP_ALIVE
        case CaughtUp():
            return _event("caught-up", {"sequence": event.sequence})
        case Closed():
            return _closed(event)
        case Truncated():
            detail = {"message": "The cursor lies below what is kept", "code": "TRUNCATED"}
            return _event(
                "truncated",
                {"floor": event.floor, "errorDetail": scrub_detail({**detail, "retryable": False})},
            )
        case Rewound():
            return _event("rewound", {"at": event.at, "head": event.head})
        case _:
            assert_never(event)


def fail_frame(error: str, *, recoverable: bool, **detail: Any) -> bytes:
    """Write the end of a stream that failed, or, recoverable, of a response that we end."""
    return _event("fail", {"error": error, **detail, "recoverable": recoverable})


def _closed(event: Closed) -> bytes:
    final = event.final
    if event.stream_status == "failed":
        given = final.get("errorDetail") or {"message": final.get("error", "The run has failed")}
        detail = scrub_detail(given)
        return fail_frame(detail["message"], errorDetail=detail, recoverable=False)
    status = "paused" if event.stream_status == "paused" else final.get("status")
    return _event(
        "end", {"status": status, **({"output": final["output"]} if "output" in final else {})}
    )


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {dumps(data)}\n\n".encode("ascii")


def _escaped(found: re.Match[str]) -> str:
    units = struct.iter_unpack(">H", found[0].encode("utf-16-be"))
    return "".join(f"\\u{unit:04x}" for (unit,) in units)


async def stream_response(
    body: AsyncGenerator[bytes, None], drain: Drain, *, slow_reader_s: float = SLOW_READER_S
) -> StreamResponse:
    """Make the response of a stream. All streaming routes use this.

    Its first frame is read here, so that what refuses a stream is an ordinary answer.
    """
    return StreamResponse(await anext(body), body, drain, slow_reader_s)


class StreamResponse:
    """Sends frames until they end, the reader leaves, is too slow, or the process drains.

    It pulls: a reader who does not take his frames costs a page of chunks and no connection.
    """

    def __init__(
        self, first: bytes, rest: AsyncGenerator[bytes, None], drain: Drain, slow_reader_s: float
    ) -> None:
        self._first = first
        self._rest = rest
        self._drain = drain
        self._slow_reader_s = slow_reader_s
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; a reader who has left is simply left."""
        await send({"type": "http.response.start", "status": OK, "headers": _HEADERS})
        sending = asyncio.create_task(self._send_frames(send))
        gone = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait(
                {sending, gone, self._drain.begun()}, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            has_left, self._is_over = gone.done(), True
            for task in (sending, gone):
                task.cancel()
            ended, _ = await asyncio.gather(sending, gone, return_exceptions=True)
        if not has_left:
            await self._end(send, ended)

    async def _send_frames(self, send: Send) -> None:
        async with aclosing(self._rest):
            await self._send(send, self._first)
            async for frame in self._rest:
                if self._is_over:  # A cancellation may be swallowed on its way; this is not.
                    raise _SentAway
                await self._send(send, frame)

    async def _send(self, send: Send, frame: bytes) -> None:
        try:
            async with asyncio.timeout(self._slow_reader_s):
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        except TimeoutError as late:
            raise _SentAway from late

    async def _end(self, send: Send, ended: BaseException | None) -> None:
        """End the body: after a terminal frame plainly, and after a failure without one."""
        last = b""
        if isinstance(ended, _SentAway | asyncio.CancelledError):
            last = fail_frame("The server ends this response; go on from here", recoverable=True)
        elif ended is not None:
            log.error("stream.broken", error=error_detail(ended))
        try:
            async with asyncio.timeout(GOODBYE_S):
                await send({"type": "http.response.body", "body": last, "more_body": False})
        except TimeoutError:
            log.info("stream.reader_too_slow")


class _SentAway(Exception):
    """We end this response; the stream goes on."""


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
