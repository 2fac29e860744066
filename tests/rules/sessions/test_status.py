"""lockgate.status: where a session stands, in one look."""

from tests.support.clock import Clock
from tests.support.door import Door


def test_a_running_session_says_who_runs_and_whether(db: Door) -> None:
    db.beat()
    run_id = db.driven(user_id="ann").run_id
    status = db.call("status", session_id="s1", acting_user_id="ann")

    assert (status.session_id, status.agent_type) == ("s1", "support")
    assert (status.session_status, status.stream_status) == ("active", "active")
    assert (status.run_id, status.run_status, status.turn) == (run_id, "running", 1)
    assert (status.is_executing, status.start_sequence) == (True, 0)
    assert status.awaiting_tool_call_ids == []


def test_an_ended_session_says_how(db: Door, clock: Clock) -> None:
    drive = db.driven()
    now = clock.forward(seconds=3)
    drive.finish("failed", error_detail={"message": "boom"})
    status = db.call("status", session_id="s1")

    assert (status.session_status, status.run_status, status.stream_status) == ("failed",) * 3
    assert (status.error_detail, status.is_executing) == ({"message": "boom"}, False)
    assert status.updated_at == now


def test_a_never_run_session_has_neither_run_nor_stream(db: Door) -> None:
    db.create_session()
    status = db.call("status", session_id="s1")

    assert (status.session_status, status.run_id, status.stream_status) == ("active", None, None)
    assert not status.is_executing


def test_no_session_and_another_users_are_one_empty_row(db: Door) -> None:
    db.start(user_id="ann")
    for asked in (
        {"session_id": "none"},
        {"session_id": "s1", "acting_user_id": "eve"},
        {"session_id": "s1", "tenant_id": "t2"},
    ):
        with db.nothing_written():
            status = db.call("status", **asked)

        assert set(vars(status).values()) == {None}


def test_the_awaited_ids_are_those_of_open_calls_that_no_drive_answers(db: Door) -> None:
    drive = db.driven()
    drive.reply(
        1, "", {"id": "a", "toolName": "t", "input": {}}, {"id": "b", "toolName": "t", "input": {}}
    )
    db.execute("update lockgate_store.tool_calls set kind = 'client' where tool_call_id = 'b'")

    assert db.call("status", session_id="s1").awaiting_tool_call_ids == ["b"]
