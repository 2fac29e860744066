"""lockgate.get_run: one run of a session, in one look."""

from uuid import uuid4

from tests.support.clock import START
from tests.support.door import Door


def test_a_run_is_read_with_its_key_and_its_end(db: Door) -> None:
    drive = db.driven(request_key="k1", user_id="ann")
    drive.reply(1, "hello")
    drive.finish("failed", output={"a": 1}, error_detail={"message": "boom"})
    run = db.call("get_run", session_id="s1", run_id=drive.run_id, acting_user_id="ann")

    assert (run.run_id, run.session_id, run.turn, run.drive) == (drive.run_id, "s1", 1, "start")
    assert (run.status, run.step_count, run.request_key) == ("failed", 1, "k1")
    assert (run.output, run.error_detail) == ({"a": 1}, {"message": "boom"})
    assert (run.start_sequence, run.end_sequence) == (0, 2)
    assert run.started_at == run.completed_at == START


def test_no_such_run_and_another_users_are_an_empty_row(db: Door) -> None:
    run_id = db.start(user_id="ann").run_id
    for given in (
        {"run_id": uuid4()},
        {"session_id": "s2"},
        {"tenant_id": "t2"},
        {"acting_user_id": "eve"},
    ):
        asked = {"session_id": "s1", "run_id": run_id, **given}
        assert [run.run_id for run in db.call_many("get_run", **asked)] in ([], [None])
