"""lockgate.get_current_run: the run that a session stands at, whatever its status."""

import pytest

from tests.support.door import Door


def current(db: Door, **more: object) -> object:
    return db.call("get_current_run", **{"session_id": "s1", **more}).run_id


def test_the_current_run_is_the_last_one_whatever_its_status(db: Door) -> None:
    first = db.driven()
    assert current(db) == first.run_id
    first.finish("failed")
    assert current(db) == first.run_id
    second = db.start(say="next").run_id
    assert current(db) == second


def test_it_is_read_as_get_run_reads_it(db: Door) -> None:
    run_id = db.finished(request_key="k1")
    asked = {"session_id": "s1", "run_id": run_id}

    assert db.call("get_current_run", session_id="s1") == db.call("get_run", **asked)


@pytest.mark.parametrize(
    "asked", [{"session_id": "none"}, {"acting_user_id": "eve"}, {"tenant_id": "t2"}]
)
def test_no_session_and_another_users_are_an_empty_row(db: Door, asked: dict[str, str]) -> None:
    db.start(user_id="ann")
    assert current(db, acting_user_id="ann") is not None
    with db.nothing_written():
        assert set(vars(db.call("get_current_run", **{"session_id": "s1", **asked})).values()) == {
            None
        }


def test_a_session_that_never_ran_has_none(db: Door) -> None:
    db.create_session()
    assert current(db) is None
