"""How one event of a stream is written: contract v2, byte by byte."""

import json
import re
from typing import Any
from uuid import UUID

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import given
from hypothesis import strategies as st

from lockgate.streams import CaughtUp, Chunk, Closed, Idle, Rewound, Truncated
from lockgate.strict_json import dumps
from lockgate_api.sse import fail_frame, frame
from tests.api.live import parsed
from tests.support.proves import case
from tests.support.rows import row

RUN = UUID("00000000-0000-0000-0000-00000000000a")
NASTY = "a\nb\r\nc\rd\u2028e\u0085f\n\nevent: end\nid: 9999"


def chunk(text: str) -> Chunk:
    """Make a chunk as Postgres gives it: JSON whose other characters are not escaped."""
    return Chunk(7, RUN, json.dumps({"delta": text}, ensure_ascii=False), "abcd1234")


def test_a_chunk_is_one_line_of_data_and_an_id() -> None:
    assert frame(Chunk(7, RUN, '{"a": 1.50}', "abcd1234")) == (
        b"event: chunk\nid: 7-abcd1234\n"
        b'data: {"sequence":7,"runId":"00000000-0000-0000-0000-00000000000a","chunk":{"a": 1.50}}'
        b"\n\n"
    )


@case(34)
@pytest.mark.parametrize("lines", [None, str.splitlines])
def test_no_text_poses_as_another_event(lines: Any) -> None:
    sent = frame(chunk(NASTY)) + fail_frame(NASTY, recoverable=True)
    first, second = parsed(sent, lines=lines and (lambda text: [*text.splitlines(), ""]))
    assert (first.name, first.id, first.data["chunk"]["delta"]) == ("chunk", "7-abcd1234", NASTY)
    assert (second.name, second.data["error"]) == ("fail", NASTY)


@case(34)
@given(st.text())
def test_every_text_comes_through_as_ascii(text: str) -> None:
    sent = frame(chunk(text.encode("utf-16", "replace").decode("utf-16", "replace")))
    assert sent.isascii()
    assert len(re.findall(rb"\n", sent)) == 4
    (event,) = parsed(sent)
    assert event.data["chunk"]["delta"] == text.encode("utf-16", "replace").decode("utf-16")


def test_numbers_of_a_chunk_pass_unchanged() -> None:
    assert b'{"n": 0.10000000000000000001}' in frame(
        Chunk(1, RUN, '{"n": 0.10000000000000000001}', "e")
    )


def test_a_foreign_parser_reads_it_alike() -> None:
    headers = {"content-type": "text/event-stream"}
    answer = httpx.Response(200, headers=headers, content=frame(chunk(NASTY)))
    (event,) = EventSource(answer).iter_sse()
    assert (event.event, event.id) == ("chunk", "7-abcd1234")
    assert event.json()["chunk"] == {"delta": NASTY}


def test_a_keep_alive_is_a_comment() -> None:
    assert frame(Idle()) == b": keep-alive\n\n"
    assert parsed(frame(Idle())) == []


@row("W14")
@pytest.mark.parametrize(
    ("event", "sent"),
    [
        (CaughtUp(3), b'event: caught-up\ndata: {"sequence":3}\n\n'),
        (Rewound(0, 5), b'event: rewound\ndata: {"at":0,"head":5}\n\n'),
        (
            Truncated(4),
            b'event: truncated\ndata: {"floor":4,"errorDetail":{'
            b'"message":"The cursor lies below what is kept",'
            b'"code":"TRUNCATED","category":"TRUNCATED","retryable":false}}\n\n',
        ),
        (
            Closed("ended", RUN, {"status": "completed", "output": {"a": None}}),
            b'event: end\ndata: {"status":"completed","output":{"a":null}}\n\n',
        ),
        (
            Closed("ended", RUN, {"status": "interrupted"}),
            b'event: end\ndata: {"status":"interrupted"}\n\n',
        ),
        (
            Closed("paused", RUN, {"status": "suspended_client_tool"}),
            b'event: end\ndata: {"status":"paused"}\n\n',
        ),
        (
            Closed("failed", RUN, {"status": "failed", "error": "m"}),
            b'event: fail\ndata: {"error":"m","errorDetail":{"message":"m"},'
            b'"recoverable":false}\n\n',
        ),
    ],
)
def test_what_carries_no_chunk_carries_no_id(event: Any, sent: bytes) -> None:
    assert frame(event) == sent


def test_exactness_of_an_output() -> None:
    output = json.loads('{"a": 1}')
    assert dumps(output).encode() in frame(
        Closed("ended", RUN, {"status": "completed", "output": output})
    )
