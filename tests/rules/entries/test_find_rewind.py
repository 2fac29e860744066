"""Where an entry goes back to: the messages of then, and the state of then."""

import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door, Drive, tool
from tests.support.store_client import StoreClient


def step(drive: Drive, number: int, state: dict[str, object] | None = None) -> str:
    """Commit a step of three messages' worth, with the state it leaves; return its checkpoint."""
    drive.reply(number, "", tool(f"call-{number}"))
    drive.result(number, 1)
    drive.step(number, **({} if state is None else {"state": Jsonb(state)}))
    return f"{drive.run_id}:{number}"


def back_to(db: Door, checkpoint: str) -> Drive:
    """Leave the current run behind and go back to a checkpoint."""
    answer = db.resume(options={"mode": "from_checkpoint", "checkpointId": checkpoint})
    assert answer.outcome == "resumed", answer
    return db.drive(answer.run_id)


def listed(db: Door) -> list[str]:
    page = db.call("list_checkpoints", session_id="s1")
    return [item["id"] for item in page.items]


def said(state: dict[str, object] | None = None) -> dict[str, object]:
    return {"message": "hi", **({} if state is None else {"state": state})}


def test_a_checkpoint_brings_back_messages_and_state_of_then(db: Door) -> None:
    drive = db.driven()
    first = step(drive, 1, {"at": 1})
    step(drive, 2, {"at": 2})
    again = back_to(db, first)

    assert db.session().state == {"at": 1}
    assert db.session().message_count == 3
    assert db.messages()[-1].step == 1
    assert listed(db) == [first]
    assert again.door.run(again.run_id).step_count == 0


def test_a_step_that_changed_no_state_has_that_of_the_step_before(db: Door) -> None:
    drive = db.driven(input=said({"at": 0}))
    step(drive, 1)
    second = step(drive, 2)
    step(drive, 3, {"at": 3})
    back_to(db, second)

    assert db.session().state == {"at": 0}


def test_a_step_before_any_state_has_an_empty_one(db: Door) -> None:
    drive = db.driven()
    first = step(drive, 1)
    step(drive, 2, {"at": 2})
    back_to(db, first)

    assert db.session().state == {}


def test_what_a_start_patched_is_part_of_the_first_step_after_it(db: Door) -> None:
    drive = db.driven(input=said({"a": 1}))
    first = step(drive, 1)
    drive.finish()
    drive = db.driven(input=said({"b": 2}))
    second = step(drive, 1)
    step(drive, 2, {"a": 1, "b": 2, "c": 3})

    assert (back_to(db, second), db.session().state)[1] == {"a": 1, "b": 2}
    assert (back_to(db, first), db.session().state)[1] == {"a": 1}


def test_a_patch_that_no_step_has_kept_goes_with_the_rewind(db: Door) -> None:
    drive = db.driven(input=said({"a": 1}))
    first = step(drive, 1)
    db.driven(input=said({"b": 2}))
    again = back_to(db, first)
    second = step(again, 1)
    step(again, 2, {"c": 3})
    back_to(db, second)

    assert db.session().state == {"a": 1}


def test_two_rewinds_in_a_row_end_where_the_second_says(db: Door) -> None:
    drive = db.driven()
    first, second = step(drive, 1, {"at": 1}), step(drive, 2, {"at": 2})
    branch = back_to(db, first)
    third = step(branch, 1, {"at": 3})
    step(branch, 2, {"at": 4})
    back_to(db, third)
    assert (db.session().state, db.session().message_count) == ({"at": 3}, 5)
    back_to(db, first)

    assert (db.session().state, db.session().message_count) == ({"at": 1}, 3)
    assert listed(db) == [first]
    for gone in (second, third):
        refused = db.resume(options={"mode": "from_checkpoint", "checkpointId": gone})
        assert refused.detail == {"field": "checkpointId"}


def test_going_back_to_where_one_stands_cuts_nothing(db: Door) -> None:
    drive = db.driven()
    first = step(drive, 1, {"at": 1})
    for _ in range(3):
        back_to(db, first)

    assert (db.session().state, db.session().message_count) == ({"at": 1}, 3)
    assert listed(db) == [first]


def test_a_state_that_was_brought_back_is_not_stored_a_second_time(db: Door) -> None:
    drive = db.driven(input=said({"a": 1}))
    first = step(drive, 1)
    db.driven(input=said({"b": 2}))
    step(back_to(db, first), 1)
    states = db.rows("select state from lockgate_store.checkpoints order by turn, step")

    assert [row.state for row in states] == [{"a": 1}, None]


def test_a_retry_that_names_no_checkpoint_keeps_the_state(db: Door) -> None:
    drive = db.driven(input=said({"a": 1}))
    step(drive, 1, {"a": 2})
    drive.finish("failed")
    db.retry()

    assert db.session().state == {"a": 2}


def test_a_patch_of_the_run_that_failed_is_kept_by_its_retry(db: Door) -> None:
    drive = db.driven(input=said({"a": 1}))
    step(drive, 1)
    drive.finish()
    db.driven(input=said({"b": 2})).finish("failed")
    again = db.drive(db.retry().run_id)
    checkpoint = step(again, 1)
    step(again, 2, {})
    back_to(db, checkpoint)

    assert db.session().state == {"a": 1, "b": 2}


def test_a_state_that_outlives_its_checkpoint_is_kept_by_the_next(db: Door) -> None:
    """A store client cuts the history and keeps the state: the cut took the checkpoint with it."""
    drive = db.driven(input=said({"at": 0}))
    step(drive, 1)
    step(drive, 2, {"at": 2})
    drive.finish()
    started = StoreClient(db).start(drive="resume", keep_messages=3)
    again = db.drive(started.run_id)
    checkpoint = step(again, 1)
    step(again, 2, {"at": 3})
    back_to(db, checkpoint)

    assert db.session().state == {"at": 2}


@pytest.mark.parametrize("drive", ["resume", "retry"])
def test_another_sessions_checkpoint_is_not_found_even_where_its_turn_is_there(
    db: Door, drive: str
) -> None:
    other = db.driven("s2")
    foreign = step(other, 1)
    ours = db.driven("s1")
    step(ours, 1)
    ours.finish("failed")
    found = db.row(
        "select (lockgate.find_rewind(jsonb_populate_record(null::lockgate.entry, %s), s, r)).*"
        "  from lockgate_store.sessions s"
        "  join lockgate_store.runs r on r.run_id = s.current_run_id"
        " where s.session_id = 's1'",
        Jsonb({"tenant_id": "", "session_id": "s1", "drive": drive, "checkpoint_id": foreign}),
    )

    assert (found.message_count, found.state) == (None, None)
