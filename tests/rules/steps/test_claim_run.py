"""lockgate.claim_run: one drive gets the run, once, with all that it needs to go on."""

from uuid import uuid4

from tests.support.clock import Clock
from tests.support.door import Door, Drive, tool
from tests.support.proves import proves


@proves("claim_run.claimed")
def test_a_first_claim_gets_history_identity_and_state(db: Door, clock: Clock) -> None:
    run_id = db.start(
        input={"message": "hi", "state": {"a": 1}},
        user_id="ann",
        tags=["t"],
        metadata={"plan": "pro"},
        parent_session_id="p",
        root_session_id="r",
        tenant_id="t1",
    ).run_id
    now = clock.forward(seconds=1)
    answer = db.claim(run_id, worker_id="worker-1")
    run = db.run(run_id)

    assert (answer.outcome, answer.attempt, answer.turn, answer.drive) == ("claimed", 1, 1, "start")
    assert (answer.agent_type, answer.user_id, answer.tags) == ("support", "ann", ["t"])
    assert (answer.metadata, answer.state) == ({"plan": "pro"}, {"a": 1})
    assert (answer.parent_session_id, answer.root_session_id) == ("p", "r")
    assert (answer.step_count, answer.message_count, answer.calls) == (0, 1, [])
    assert answer.messages == [
        {
            "seq": 1,
            "role": "user",
            "step": 0,
            "runId": str(run_id),
            "content": [{"type": "text", "text": "hi"}],
        }
    ]
    assert (answer.head_sequence, answer.stop_kind) == (0, None)
    assert (run.owner_id, run.claimed_at) == ("worker-1", now)
    assert db.chunks() == []


@proves("claim_run.over")
def test_the_same_drive_claims_once(db: Door) -> None:
    drive = db.driven()
    with db.nothing_written():
        for worker_id in ("worker-1", "worker-2"):
            assert db.claim(drive.run_id, worker_id=worker_id).outcome == "over"


@proves("claim_run.over")
def test_an_older_drive_another_runs_drive_and_no_session_are_over(db: Door) -> None:
    drive = db.driven("s1")
    db.requeue(drive.run_id, "raised")
    other = db.start("s2").run_id
    with db.nothing_written():
        answers = [
            db.claim(drive.run_id, drive_id=drive.drive_id),
            db.claim(drive.run_id, drive_id=db.run(other).drive_id),
            db.claim(drive.run_id, drive_id=uuid4()),
            db.claim(drive.run_id, tenant_id="t2"),
            db.call(
                "claim_run",
                session_id="s2",
                run_id=drive.run_id,
                drive_id=db.run(drive.run_id).drive_id,
                worker_id="worker-1",
            ),
        ]

    assert {answer.outcome for answer in answers} == {"over"}
    assert {answer.attempt for answer in answers} == {None}


@proves("claim_run.over")
def test_an_ended_run_is_over(db: Door) -> None:
    drive = db.driven()
    drive.finish()
    with db.nothing_written():
        assert db.claim(drive.run_id).outcome == "over"


def test_a_later_attempt_begins_at_the_first_uncommitted_step_and_tells_readers(db: Door) -> None:
    lost = db.driven()
    lost.append("let me ", "look")
    lost.reply(1, "let me look", tool("call-a"), tool("call-b"))
    lost.result(1, 1, result="found")
    saved = lost.head
    lost.append("half a sen")
    db.requeue(lost.run_id, "raised")
    answer = db.claim(lost.run_id, worker_id="worker-2")
    *_, resync = db.chunks()

    assert (answer.outcome, answer.attempt, answer.step_count) == ("claimed", 2, 0)
    assert [call["status"] for call in answer.calls] == ["answered", "pending"]
    assert answer.calls[0]["response"] == {"success": True, "result": "found"}
    assert [m["role"] for m in answer.messages] == ["user", "assistant"]
    assert (resync["type"], resync["runId"]) == ("stream_resync", str(lost.run_id))
    assert (resync["attempt"], resync["committedSequence"]) == (2, saved)
    assert answer.head_sequence == db.stream().head_sequence == saved + 2
    assert db.stream().committed_sequence == saved


def test_a_claim_tells_of_a_stop_that_stands(db: Door) -> None:
    run_id = db.start().run_id
    db.beat()
    db.start(say="instead", concurrent_entry="interrupt_previous")

    assert db.claim(run_id).stop_kind == "interrupt"


def test_a_claim_sees_all_turns_of_the_session(db: Door) -> None:
    db.finished(say="one")
    run_id = db.start(say="two").run_id
    answer = db.claim(run_id)

    assert [m["seq"] for m in answer.messages] == [1, 2, 3]
    assert answer.turn == 2


def test_a_claim_says_how_many_workers_died_since_the_last_step(db: Door, clock: Clock) -> None:
    drive = db.driven()
    assert db.row("select count(*) as n from lockgate_store.recoveries").n == 0
    counts = []
    for finding in ("raised", "owner_dead", "drained", "owner_dead"):
        db.beat()
        if finding == "owner_dead":
            clock.forward(seconds=60)
        assert db.requeue(drive.run_id, finding).outcome == "requeued"
        claim = db.claim(drive.run_id)
        counts.append(claim.deaths)
    assert counts == [0, 1, 1, 2], "who raised or drained has died of nothing"
    again = Drive(db, drive.run_id, claim.attempt, claim.head_sequence)
    again.reply(1, "a step", tool())
    again.result(1, 1, closes_step=True)
    db.requeue(drive.run_id, "drained")
    assert db.claim(drive.run_id).deaths == 0


def test_a_claim_says_whether_an_attempt_before_it_was_claimed(db: Door) -> None:
    run_id = db.start().run_id
    db.requeue(run_id, "raised")
    first = db.claim(run_id)
    for _ in range(2):
        db.requeue(run_id, "raised")
    later = db.claim(run_id)

    assert (first.attempt, first.is_recovery) == (2, False)
    assert (later.attempt, later.is_recovery) == (4, True)
