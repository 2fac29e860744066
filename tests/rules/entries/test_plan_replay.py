"""A run id that exists: the same start again, or somebody else's run."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.door import Door
from tests.support.proves import case, proves


@proves("start.replayed")
@case(1)
def test_the_same_start_again_is_replayed_also_after_its_end(db: Door) -> None:
    run_id = uuid4()
    start: dict[str, Any] = {"say": "hi", "run_id": run_id, "request_key": "k1"}
    drive = db.driven(**start)
    with db.nothing_written():
        running = db.start(**start)
    drive.finish()
    with db.nothing_written():
        ended = db.start(**start)

    assert (running.outcome, running.run_id, running.run_status) == ("replayed", run_id, "running")
    assert (ended.outcome, ended.run_id, ended.run_status) == ("replayed", run_id, "completed")


@proves("start.rejected")
def test_a_run_id_of_another_start_is_a_conflict(db: Door) -> None:
    run_id = db.start(say="hi", request_key="k1").run_id
    for given in (
        {"say": "something else", "request_key": "k1"},
        {"say": "hi"},
        {"say": "hi", "request_key": "k2"},
        {"say": "hi", "request_key": "k1", "agent_type": "other"},
    ):
        with db.nothing_written():
            answer = db.start(run_id=run_id, **given)

        assert (answer.outcome, answer.cause) == ("rejected", "run_id_conflict")
        assert answer.run_id == run_id


@pytest.mark.parametrize("elsewhere", [{"session_id": "s2"}, {"tenant_id": "t2"}])
def test_a_run_id_of_another_session_is_a_conflict_that_tells_nothing_of_it(
    db: Door, elsewhere: dict[str, str]
) -> None:
    run_id = db.start(say="hi").run_id
    for given in ({}, {"acting_user_id": "eve"}):
        with db.nothing_written():
            answer = db.start(say="hi", run_id=run_id, **elsewhere, **given)

        assert (answer.outcome, answer.cause) == ("rejected", "run_id_conflict")
        assert (answer.run_id, answer.run_status, answer.start_sequence) == (None, None, None)
