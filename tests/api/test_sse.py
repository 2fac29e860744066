"""GET sse, row by row: reference/http.md 2.5 and 12.12."""

import asyncio
from typing import Any

import pytest

from lockgate.streams import Chunk
from lockgate_api.front import Drain
from lockgate_api.sse import frames, stream_response
from tests.api.live import Event, Live, names, texts
from tests.api.rig import (
    Api,
    driven,
)
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row

PATH = "/sessions/s1/sse"


@row("W5")
def test_a_live_run_is_followed_to_its_end(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append("a", "b", "c")

    async def follow() -> list[Event]:
        async with api.live(f"{PATH}?fromSequence=1") as live:
            seen = [await live.event() for _ in range(3)]
            assert (live.status, live.is_complete) == (200, False)
            assert live.response_headers == {
                b"content-type": b"text/event-stream; charset=utf-8",
                b"cache-control": b"no-cache",
                b"x-accel-buffering": b"no",
            }
            drive.append("d")
            seen.append(await live.event())
            drive.finish(output={"n": 1})
            seen.append(await live.event())
            assert await live.frame() == b""
            return seen

    seen = api.run(follow())
    assert names(seen) == ["chunk", "chunk", "caught-up", "chunk", "end"]
    assert texts(seen) == ["b", "c", "d"]
    epoch = db.stream().epoch
    assert [event.id for event in seen] == [f"2-{epoch}", f"3-{epoch}", None, f"4-{epoch}", None]
    assert seen[0].data["sequence"] == 2
    assert {seen[0].data["runId"], seen[3].data["runId"]} == {str(drive.run_id)}
    assert seen[2].data == {"sequence": 3}
    assert seen[4].data == {"status": "completed", "output": {"n": 1}}


@case(32)
@row("W6")
def test_an_idle_session_delivers_what_is_kept_and_ends_once(api: Api, db: Door) -> None:
    first = driven(api, db)
    first.append("a", "b")
    first.finish()
    second = driven(api, db)
    second.append("c")
    second.finish()
    seen = api.events()
    assert names(seen) == ["chunk", "chunk", "chunk", "end"]
    assert texts(seen) == ["a", "b", "c"]
    assert [event.data["runId"] for event in seen[:3]] == [str(first.run_id)] * 2 + [
        str(second.run_id)
    ]
    for place in (1, 2, 3):
        assert texts(api.events(params={"fromSequence": str(place)})) == ["a", "b", "c"][place:]


@case(16)
@row("W6")
def test_the_last_event_id_wins_with_or_without_its_epoch(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append(*"abcdef")
    drive.finish()
    full = api.events()
    for last_id in (full[3].id or "", "4"):
        headers = {"last-event-id": last_id}
        assert api.events(headers=headers, params={"fromSequence": "1"}) == full[4:]
    assert api.events(headers={"last-event-id": ""}) == full


@row("W7")
def test_a_cursor_below_what_is_kept_is_truncated(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append(*"abcd")
    drive.finish()
    db.execute("update lockgate_store.streams set floor_sequence = 2")
    db.execute("update lockgate_store.stream_chunks set chunks = chunks[3:], chunk_count = 2")
    (event,) = api.events(params={"fromSequence": "1"})
    assert event.name == "truncated"
    assert (event.data["floor"], event.data["errorDetail"]["code"]) == (2, "TRUNCATED")
    for kept in (api.events(params={"fromSequence": "2"}), api.events()):
        assert texts(kept) == ["c", "d"]


@case(32)
@row("W8")
@pytest.mark.parametrize("cursor", ["99", "9" * 30])
def test_a_cursor_ahead_is_rewound(api: Api, db: Door, cursor: str) -> None:
    drive = driven(api, db)
    drive.append("a")
    for at in range(2):
        (event,) = api.events(params={"fromSequence": cursor})
        assert (event.name, event.data) == ("rewound", {"at": 1, "head": 1})
        if not at:
            drive.finish()


@case(32)
@row("W8")
def test_a_cursor_of_another_life_is_rewound(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append("a")
    for sequence in ("1", "99"):
        (event,) = api.events(headers={"last-event-id": f"{sequence}-0ther"})
        assert (event.name, event.data) == ("rewound", {"at": 0, "head": 1})


@row("W9")
@pytest.mark.parametrize("headers", [{}, {"last-event-id": "3-abcd1234"}])
def test_nothing_to_stream_is_404(api: Api, headers: dict[str, str]) -> None:
    api.post("/sessions", {"agentType": AGENT, "sessionId": "s1"})
    for session_id in ("s1", "s2"):
        answer = api.get(f"/sessions/{session_id}/sse", headers=headers)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["code"] == "NOT_FOUND"


@row("W10")
@pytest.mark.parametrize(
    "cursor", ["", "-1", "x", "1.5", "1e3", " 1", "+1", "\u0661", "1-", "5-abcd1234"]
)
def test_a_bad_cursor_is_400(unread: Api, cursor: str) -> None:
    answer = unread.get(PATH, params={"fromSequence": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["field"] == "fromSequence"


@row("W10")
@pytest.mark.parametrize("cursor", ["-1", "x", "1-", "1-a-b", "1-a b"])
def test_a_bad_last_event_id_is_400(unread: Api, cursor: str) -> None:
    answer = unread.get(PATH, headers={"last-event-id": cursor}, params={"fromSequence": "0"})
    assert (answer.status_code, answer.json()["field"]) == (400, "fromSequence")


@case(33)
@row("W11")
def test_a_failure_in_the_writer_ends_the_body_without_a_terminal_event(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = driven(api, db)
    drive.append("a", "b", "c")
    follow = api.runtime.follow

    async def broken(*args: Any, **given: Any) -> Any:
        async for event in follow(*args, **given):
            if not isinstance(event, Chunk):
                raise ValueError("postgres://app:hunter2@10.0.0.5/db")
            yield event

    monkeypatch.setattr(api.runtime, "follow", broken)
    seen = api.events()
    assert names(seen) == ["chunk"] * 3
    logged = capsys.readouterr().out
    assert "stream.broken" in logged
    assert "hunter2" not in logged
    monkeypatch.undo()
    drive.finish()
    rest = api.events(headers={"last-event-id": seen[-1].id or ""})
    assert names(rest) == ["end"]


@row("W12")
def test_a_drain_ends_open_streams_at_once(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append("a")

    async def drained() -> None:
        async with api.live(PATH) as one, api.live(PATH) as other:
            for live in (one, other):
                assert [(await live.event()).name for _ in range(2)] == ["chunk", "caught-up"]
            api.app.state.drain.begin()
            for live in (one, other):
                event = await live.event()
                assert (event.name, event.data["recoverable"]) == ("fail", True)
                assert await live.frame() == b""
        async with api.live(PATH) as late:
            frames = [frame async for frame in _frames(late)]
            assert b'"recoverable":true' in frames[-1]

    api.run(drained())


async def _frames(live: Live) -> Any:
    while frame := await live.frame():
        yield frame


@row("W12")
def test_a_reader_who_takes_nothing_is_sent_away(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append("a", "b")
    sent: list[Any] = []

    async def send(message: Any) -> None:
        if len(sent) == 2 and b"recoverable" not in message["body"]:
            await asyncio.Event().wait()
        sent.append(message)

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def read() -> None:
        response = await stream_response(
            frames(api.runtime.follow("s1")), Drain(), slow_reader_s=0.05
        )
        await response({}, receive, send)  # type: ignore[arg-type]

    api.run(read())
    assert sent[0]["status"] == 200
    assert b"event: chunk" in sent[1]["body"]
    assert b'"recoverable":true' in sent[2]["body"]
    assert sent[2]["more_body"] is False


@row("W13")
def test_a_run_that_fails_is_not_recoverable(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.finish("failed", error_detail={"message": "m", "code": "provider_error"})
    chunk, fail = api.events()
    assert chunk.data["chunk"]["type"] == "error"
    assert fail.name == "fail"
    assert fail.data == {
        "error": "m",
        "errorDetail": {"message": "m", "code": "provider_error", "category": "provider"},
        "recoverable": False,
    }


@row("W14")
def test_a_paused_stream_ends_paused(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.append("a")
    db.execute("update lockgate_store.streams set status = 'paused', final = '{}'")
    seen = api.events()
    assert names(seen) == ["chunk", "end"]
    assert seen[-1].data == {"status": "paused"}
    db.execute("update lockgate_store.streams set status = 'active', final = null")
