"""lockgate.read_stream: a page after a cursor, cut inside a batch, across the runs of a session."""

import json
from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import case, proves


def read(db: Door, after: int | None = None, **more: object) -> Any:
    return db.call("read_stream", **{"session_id": "s1", "after": after, **more})


def texts(page: Any) -> list[str]:
    chunks = [json.loads(chunk) for chunk in page.chunks or []]
    return [chunk.get("delta") or chunk["type"] for chunk in chunks]


@proves("read_stream.page")
def test_every_cut_of_a_stream_gives_its_rest(db: Door) -> None:
    drive = db.driven()
    for batch in ("abc", "d", "ef"):
        drive.append(*batch)
    for after in range(7):
        for limit in range(1, 8):
            page = read(db, after, limit=limit)

            assert texts(page) == list("abcdef"[after : after + limit])
            assert (page.outcome, page.first_sequence) == ("page", after + 1)
            assert (page.head_sequence, page.floor_sequence) == (6, 0)
            assert page.run_ids == ([drive.run_id] * len(texts(page)) or None)


@proves("read_stream.page")
def test_a_reader_at_the_head_gets_an_empty_page_that_tells_the_end(db: Door) -> None:
    drive = db.driven()
    drive.append("a")
    live = read(db, 1)
    drive.finish(output={"ok": True})
    ended = read(db, 1)

    assert (live.outcome, live.chunks, live.stream_status) == ("page", None, "active")
    assert (live.run_id, live.final) == (drive.run_id, None)
    assert (ended.stream_status, ended.final) == (
        "ended",
        {"status": "completed", "output": {"ok": True}},
    )


@case(32)
def test_the_numbers_go_on_from_run_to_run(db: Door) -> None:
    first = db.driven()
    first.append("a", "b")
    first.finish()
    second = db.driven(say="more")
    second.append("c")
    page = read(db)

    assert db.run(second.run_id).start_sequence == 2
    assert texts(page) == ["a", "b", "c"]
    assert page.run_ids == [first.run_id, first.run_id, second.run_id]
    assert texts(read(db, db.run(second.run_id).start_sequence)) == ["c"]


@proves("read_stream.no_stream")
def test_no_session_a_never_run_one_and_another_users_have_no_stream(db: Door) -> None:
    db.create_session("never-run")
    db.driven("s1", user_id="ann").append("secret")
    places: list[dict[str, Any]] = [
        {"session_id": "none"},
        {"session_id": "never-run"},
        {"acting_user_id": "eve"},
        {"tenant_id": "t2"},
    ]
    for place in places:
        page = read(db, **place)

        assert page.outcome == "no_stream"
        assert (page.chunks, page.head_sequence, page.epoch, page.run_id) == (None,) * 4
    assert texts(read(db, acting_user_id="ann")) == ["secret"]


@proves("read_stream.rewound")
@case(32)
def test_a_cursor_ahead_of_the_head_or_of_another_life_is_told(db: Door) -> None:
    db.driven().append("a", "b")
    epoch = db.stream().epoch

    assert read(db, 3).outcome == "rewound"
    assert read(db, 1, epoch="another").outcome == "rewound"
    assert read(db, 1, epoch="another").chunks is None
    assert texts(read(db, 1, epoch=epoch)) == ["b"]


@proves("read_stream.truncated")
def test_a_cursor_below_what_is_kept_is_told_and_none_begins_at_the_oldest(db: Door) -> None:
    drive = db.driven()
    drive.append("a", "b")
    drive.append("c", "d")
    drive.reply(1, "abcd")
    db.execute("delete from lockgate_store.stream_chunks where last_sequence <= 2")
    db.execute("update lockgate_store.streams set floor_sequence = 2")

    assert (read(db, 1).outcome, read(db, 1).floor_sequence) == ("truncated", 2)
    assert texts(read(db)) == texts(read(db, 2)) == ["c", "d", "step_committed"]


def test_a_floor_inside_a_batch_cuts_it(db: Door) -> None:
    drive = db.driven()
    drive.append("a", "b", "c")
    drive.reply(1, "abc")
    db.execute("update lockgate_store.streams set floor_sequence = 2")

    assert texts(read(db)) == ["c", "step_committed"]


@pytest.mark.parametrize(("limit", "given"), [(1, 0), (1, -5), (1000, 10_000)])
def test_a_limit_is_held_between_one_and_a_thousand(db: Door, limit: int, given: int) -> None:
    drive = db.driven()
    for _ in range(3):
        drive.append(*("x" for _ in range(400)))

    assert len(read(db, limit=given).chunks) == limit


def test_a_page_is_strict_json_as_it_was_appended(db: Door) -> None:
    db.execute("select 1")
    drive = db.driven()
    drive.append('é"\\\u2028 1e400')

    assert json.loads(read(db).chunks[0])["delta"] == 'é"\\\u2028 1e400'
