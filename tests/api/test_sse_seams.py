"""Where streams break: ends, cuts, snapshots, silence, many readers."""

import asyncio

import pytest

from lockgate import (
    streams,
)
from lockgate.streams import NoStream
from lockgate_api.front import Drain
from lockgate_api.sse import frames, stream_response
from tests.api.conftest import MakeApi
from tests.api.live import Event
from tests.api.rig import (
    Api,
    driven,
    until,
)
from tests.support.door import Door, Drive
from tests.support.proves import case

PATH = "/sessions/s1/sse"


@case(14)
def test_no_reader_misses_an_end_that_falls_between_two_looks(api: Api, db: Door) -> None:
    async def rounds() -> None:
        for number in range(20):
            drive = driven_now(db, f"s{number}")
            async with api.live(f"/sessions/s{number}/sse") as live:
                drive.append("last")
                drive.finish()
                seen = [(await live.event()).name]
                while seen[-1] not in ("end", "fail"):
                    seen.append((await live.event()).name)
                assert await live.frame() == b""
            assert [name for name in seen if name != "caught-up"] == ["chunk", "end"]

    def driven_now(db: Door, session_id: str) -> Drive:
        return db.driven(session_id)

    api.run(rounds())


@case(16)
def test_cut_and_reconnect_on_two_processes(make_api: MakeApi, db: Door) -> None:
    here, there = make_api(), make_api()
    drive = driven(here, db)
    seen: list[Event] = []

    async def read() -> None:
        for batch in range(40):
            drive.append(*(f"{batch}.{place} " for place in range(7)))
            headers = {"last-event-id": seen[-1].id or ""} if seen else {}
            async with (here, there)[batch % 2].live(PATH, **headers) as live:
                for _ in range(batch % 13):
                    if (event := await live.event()).name != "chunk":
                        break
                    seen.append(event)

    here.run(read())
    drive.finish()
    rest = here.events(headers={"last-event-id": seen[-1].id or ""})
    union = [*seen, *rest[:-1]]
    assert [event.data["sequence"] for event in union] == list(range(1, 281))
    assert here.get(PATH).content == there.get(PATH).content


@case(17)
def test_a_snapshot_and_the_chunks_after_it_are_the_whole_text(api: Api, db: Door) -> None:
    first = driven(api, db)
    first.append("old")
    first.reply(1, "old")
    first.finish()
    drive = driven(api, db)
    for step in (1, 2, 3):
        words = [f"{step}{letter} " for letter in "abc"]
        for upto in range(3):
            drive.append(words[upto])
            assert whole_text(api, drive) == "".join(
                f"{before}{letter} " for before in range(1, step) for letter in "abc"
            ) + "".join(words[: upto + 1])
        drive.reply(
            step,
            "".join(words),
            *([] if step == 3 else [{"id": f"c{step}", "toolName": "t", "input": {}}]),
        )
        if step < 3:
            drive.result(step, 1)
            drive.step(step)
    drive.finish()
    assert whole_text(api, drive) == "1a 1b 1c 2a 2b 2c 3a 3b 3c "


def whole_text(api: Api, drive: Drive) -> str:
    """Take a snapshot, and put the text after its cursor behind the text in it."""
    snapshot = api.get("/sessions/s1/snapshot").json()
    saved = [m for m in snapshot["messages"] if m["id"] == f"msg_{drive.run_id}"]
    text = "".join(p["text"] for m in saved for p in m["parts"] if p["type"] == "text")

    async def rest() -> str:
        found = ""
        cursor = f"{snapshot['streamSequence']}-{snapshot['epoch']}"
        async with api.live(PATH, **{"last-event-id": cursor}) as live:
            while (event := await live.event()).name == "chunk":
                assert event.data["runId"] == str(drive.run_id)
                found += event.data["chunk"].get("delta", "")
        return found

    return text + api.run(rest())


@case(39)
def test_quiet_streams_hold_no_connection(api: Api, db: Door) -> None:
    driven(api, db)

    async def many() -> None:
        opened = [api.live(PATH) for _ in range(40)]
        lives = [await live.__aenter__() for live in opened]
        for live in lives:
            assert (await live.event()).name == "caught-up"
        answer = await asyncio.wait_for(api.astart("s2"), 1)
        assert answer.status_code == 200
        busy = db.row(
            "select count(*) as n from pg_stat_activity where application_name = 'lockgate'"
            " and state <> 'idle'"
        )
        assert busy.n <= 1
        for live in lives:
            live.leave()
        for one in opened:
            await one.__aexit__(None, None, None)

    api.run(many())


def test_who_leaves_is_no_longer_watched_for(api: Api, db: Door) -> None:
    driven(api, db)

    async def leave() -> None:
        async with api.live(PATH) as live:
            await live.event()
            assert api.runtime.watcher._watches
        await until(lambda: not api.runtime.watcher._watches)

    api.run(leave())
    assert db.row("select * from lockgate_store.runs").stop_kind is None


def test_silence_is_broken_by_a_comment(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "IDLE_S", 0.05)
    driven(api, db)

    async def listen() -> None:
        async with api.live(PATH) as live:
            await live.event()
            assert [await live.frame() for _ in range(2)] == [b": keep-alive\n\n"] * 2

    api.run(listen())


def test_a_watcher_outlives_a_failure(api: Api, db: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    drive = driven(api, db)
    ask, failed = api.runtime.watcher._ask, asyncio.Event()

    async def fail_once() -> None:
        if not failed.is_set():
            failed.set()
            raise ValueError("a rule is being replaced")
        await ask()

    monkeypatch.setattr(api.runtime.watcher, "_ask", fail_once)

    async def follow() -> None:
        async with api.live(PATH) as live:
            await live.event()
            await failed.wait()
            drive.append("a")
            assert (await live.event()).name == "chunk"

    api.run(follow())


def test_the_first_look_decides_before_the_answer_begins(api: Api) -> None:
    async def look() -> None:
        with pytest.raises(NoStream):
            await stream_response(frames(api.runtime.follow("nobody")), Drain())

    api.run(look())
