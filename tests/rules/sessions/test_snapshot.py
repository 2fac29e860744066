"""lockgate.snapshot: the saved history with the cursor that follows it, in one look."""

from typing import Any

from tests.support.clock import START
from tests.support.door import Door, tool
from tests.support.proves import case


def snapshot(db: Door, **more: object) -> Any:
    return db.call("snapshot", **{"session_id": "s1", **more})


def test_a_snapshot_is_the_whole_session(db: Door) -> None:
    drive = db.driven(
        input={"message": [{"role": "user", "content": "hi", "id": "m1"}], "state": {"a": 1}},
        request_key="k1",
    )
    drive.reply(1, "hello")
    drive.finish(output={"ok": True})
    seen = snapshot(db)

    assert (seen.session_id, seen.agent_type, seen.session_status) == ("s1", "support", "completed")
    assert (seen.state, seen.error_detail, seen.message_count) == ({"a": 1}, None, 2)
    assert [(m["seq"], m["role"], m.get("clientId")) for m in seen.messages] == [
        (1, "user", "m1"),
        (2, "assistant", None),
    ]
    assert (seen.run_id, seen.run_status, seen.turn) == (drive.run_id, "completed", 1)
    assert (seen.stream_status, seen.final) == (
        "ended",
        {"status": "completed", "output": {"ok": True}},
    )
    assert (seen.request_key, seen.calls, seen.read_at) == ("k1", [], START)
    assert seen.epoch == db.stream().epoch


@case(17)
def test_snapshot_and_the_chunks_after_it_are_the_text_exactly_at_each_moment(db: Door) -> None:
    drive = db.driven()
    said: list[str] = []

    def check() -> None:
        seen = snapshot(db)
        saved = [
            part["text"]
            for message in seen.messages
            for part in message["content"]
            if message["role"] == "assistant" and part["type"] == "text"
        ]
        chunks = db.chunks()[seen.stream_sequence :]
        assert "".join([*saved, *(c.get("delta", "") for c in chunks)]) == "".join(said)

    check()
    for step in (1, 2, 3):
        for text in (f"{step}a", f"{step}b"):
            drive.append(text)
            said.append(text)
            check()
        drive.reply(step, f"{step}a{step}b", *([tool()] if step == 2 else []))
        check()
        if step == 2:
            drive.result(2, 1)
            check()
            drive.step(2)
            check()
    drive.finish()
    check()


def test_open_calls_are_shown_until_their_results_are_history(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("a"), tool("b"))
    drive.result(1, 1, result="found")
    open_calls = snapshot(db).calls
    drive.result(1, 2)
    drive.step(1)

    assert [(c["toolCallId"], c["status"]) for c in open_calls] == [
        ("a", "answered"),
        ("b", "pending"),
    ]
    assert open_calls[0]["response"]["result"] == "found"
    assert snapshot(db).calls == []


def test_a_never_run_session_has_no_stream(db: Door) -> None:
    db.create_session(state={"a": 1})
    seen = snapshot(db)

    assert (seen.state, seen.messages, seen.calls) == ({"a": 1}, [], [])
    assert (seen.stream_status, seen.stream_sequence, seen.run_id) == (None, None, None)


def test_no_session_and_another_users_are_one_empty_row(db: Door) -> None:
    db.start(user_id="ann")
    for asked in ({"session_id": "none"}, {"acting_user_id": "eve"}, {"tenant_id": "t2"}):
        with db.nothing_written():
            assert set(vars(snapshot(db, **asked)).values()) == {None}
    assert snapshot(db, acting_user_id="ann").session_id == "s1"
