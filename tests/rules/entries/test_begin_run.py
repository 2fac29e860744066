"""What an accepted start writes, on an empty session, over an ended run and over a live one."""

from tests.support.clock import START, Clock
from tests.support.door import Door, tool


def test_a_first_start_writes_one_row_of_each_kind(db: Door) -> None:
    answer = db.start("s1", "hi", input={"message": "hi", "state": {"a": 1}}, request_key="k1")
    session, stream, run = db.session(), db.stream(), db.run(answer.run_id)
    (message,) = db.messages()

    assert (session.status, session.turn_count, session.version) == ("active", 1, 2)
    assert (session.state, session.message_count) == ({"a": 1}, 1)
    assert (run.turn, run.drive, run.attempt, run.owner_id) == (1, "start", 1, None)
    assert (run.step_count, run.start_sequence, run.end_sequence) == (0, 0, None)
    assert run.started_at == run.dispatch_at == message.created_at == START
    assert (message.seq, message.role, message.step) == (1, "user", 0)
    assert message.content == [{"type": "text", "text": "hi"}]
    assert (stream.status, stream.run_id, stream.attempt) == ("active", run.run_id, 1)
    assert (stream.head_sequence, stream.final) == (0, None)
    assert db.workflow(run.drive_id).delay_until_epoch_ms is None


def test_a_next_start_goes_on_where_the_session_stands(db: Door) -> None:
    first = db.driven(input={"message": "hi", "state": {"a": 1, "b": {"c": 1}}})
    first.append("one", "two")
    first.reply(1, "hello")
    first.finish(output={"answer": 42})
    ended, epoch = db.session(), db.stream().epoch
    answer = db.start(input={"message": "more", "state": {"b": {"d": 2}}})
    session, stream = db.session(), db.stream()

    assert ended.output == {"answer": 42}
    assert (session.output, session.error_detail, session.status) == (None, None, "active")
    assert session.state == {"a": 1, "b": {"d": 2}}
    assert (session.turn_count, session.version) == (2, ended.version + 1)
    assert (session.terminal_run_id, session.terminal_status) == (first.run_id, "completed")
    assert (stream.status, stream.run_id, stream.attempt) == ("active", answer.run_id, 1)
    assert stream.head_sequence == stream.committed_sequence == answer.start_sequence == 3
    assert (stream.final, stream.epoch) == (None, epoch)


def test_the_failure_of_the_last_run_is_cleared(db: Door) -> None:
    db.driven().finish("failed", error_detail={"message": "boom"})
    assert db.session().error_detail == {"message": "boom"}
    db.start(say="again")

    assert db.session().error_detail is None


def test_the_client_ids_of_messages_are_kept(db: Door) -> None:
    db.start(say=[{"role": "user", "content": "a", "id": "m1"}, {"role": "user", "content": "b"}])

    assert [(m.seq, m.client_id) for m in db.messages()] == [(1, "m1"), (2, None)]
    assert db.session().message_count == 2


def test_a_live_run_that_nothing_executes_is_superseded(db: Door, clock: Clock) -> None:
    lost = db.driven()
    lost.append("Hel")
    now = clock.forward(seconds=60)
    answer = db.start(say="again")
    old, new = db.run(lost.run_id), db.run(answer.run_id)

    assert (old.status, old.completed_at, old.owner_id) == ("superseded", now, None)
    assert (new.turn, new.status) == (2, "running")
    assert old.attempt == lost.attempt + 1
    assert [(s.run_id, s.status) for s in db.rows("select * from lockgate_store.settlements")] == [
        (lost.run_id, "superseded")
    ]


def test_the_numbers_of_the_new_run_follow_those_of_the_old(db: Door) -> None:
    lost = db.driven()
    lost.append("Hel")
    answer = db.start(say="again")
    db.drive(answer.run_id).append("new")

    assert answer.start_sequence == 1
    assert [c["delta"] for c in db.chunks()[answer.start_sequence :]] == ["new"]


def test_a_superseded_drive_is_fenced_in_every_write(db: Door) -> None:
    lost = db.driven()
    lost.append("Hel")
    db.start(say="again")
    with db.nothing_written():
        answers = lost.every_write()
        claim = db.claim(lost.run_id, drive_id=lost.drive_id)

    assert {answer.outcome for _, answer in answers} == {"fenced"}
    assert claim.outcome == "over"


def test_open_calls_of_a_superseded_run_are_paired_in_the_same_commit(db: Door) -> None:
    lost = db.driven()
    lost.reply(1, "let me look", tool("call-a"), tool("call-b"))
    lost.result(1, 1, result={"found": True})
    db.start(say="never mind")
    roles = [m.role for m in db.messages()]
    answered, abandoned = db.messages()[2].content

    assert roles == ["user", "assistant", "tool", "user"]
    assert answered["toolCallId"] == "call-a"
    assert (answered["success"], answered["result"]) == (True, {"found": True})
    assert (abandoned["toolCallId"], abandoned["success"]) == ("call-b", False)
    assert abandoned["reason"] == "run_stopped"
    assert [c.status for c in db.calls(lost.run_id)] == ["consumed", "abandoned"]


def test_a_run_whose_terminal_commit_landed_ends_as_that_says(db: Door) -> None:
    """A foreign store client can die between the terminal commit and the run's status."""
    db.beat()
    landed = db.driven()
    db.execute(
        "update lockgate_store.sessions set status = 'interrupted', terminal_run_id = %s,"
        " terminal_status = 'interrupted'",
        landed.run_id,
    )
    answer = db.start(say="and now?")

    assert answer.outcome == "started"
    assert db.run(landed.run_id).status == "interrupted"


def test_an_unclaimed_run_past_the_dispatch_limit_is_superseded_with_its_budget(
    db: Door, clock: Clock
) -> None:
    lost = db.driven()
    db.requeue(lost.run_id, "raised", failure={"message": "boom"})
    clock.forward(seconds=120)
    assert db.start(say="again").outcome == "started"

    assert db.rows("select * from lockgate_store.recoveries") == []
