"""lockgate.requeue_run where a lost run is not driven again: what it had come to, or a demotion."""

from typing import Any
from uuid import UUID

import pytest

from tests.support import standings
from tests.support.clock import START, Clock
from tests.support.door import Door, tool
from tests.support.family import begin, calling
from tests.support.proves import case, proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import approval, client, decision, results, submit, unpaired

LEASE_S = 5.0
STOP = (
    "update lockgate_store.runs set stop_kind = 'interrupt', stop_reason = 'enough',"
    " stop_requested_at = started_at"
)


def paused(db: Door) -> None:
    """Pause the session, as a suspension does that wrote no more than that."""
    db.execute("update lockgate_store.sessions set status = 'paused'")


def lost(
    db: Door, run_id: object, finding: str = "closed_owner", **more: object
) -> tuple[str, str]:
    """Let a sweep act on a run whose workflow is over."""
    db.execute("update dbos.workflow_status set status = 'ERROR'")
    answer = db.requeue(run_id, finding, **more)  # type: ignore[arg-type]
    return answer.outcome, answer.run_status


@proves("requeue_run.suspended")
def test_a_suspension_that_landed_on_the_session_alone_is_written_whole(db: Door) -> None:
    db.call("register_consumer", consumer="hook")
    drive = db.driven()
    drive.reply(1, "your turn", client("a"), approval("b"))
    paused(db)
    assert lost(db, drive.run_id) == ("suspended", "suspended_client_tool")

    run = db.run(drive.run_id)
    assert (run.status, db.session().status, db.stream().status) == (
        "suspended_client_tool",
        "paused",
        "paused",
    )
    assert standings.statuses(db, drive.run_id) == ["suspended_client_tool"]
    assert [c["type"] for c in db.chunks()][-3:] == [
        "tool_start",
        "tool_approval_request",
        "run_paused",
    ]
    assert {answer.outcome for _, answer in drive.every_write()} == {"fenced"}
    assert submit(db, "a").outcome == "accepted"


def test_one_whose_answers_had_all_come_goes_on(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "your turn", client("a"))
    paused(db)
    db.execute(
        "update lockgate_store.tool_calls set status = 'answered', submitted_at = lockgate.now(),"
        """ response = '{"success": true, "result": "early"}'"""
    )
    assert lost(db, drive.run_id) == ("ended", "superseded")
    assert db.run(db.session().current_run_id).drive == "continue"
    assert [result["result"] for result in results(db)] == ["early"]


def test_one_that_waits_for_a_child_is_suspended_over_it(db: Door) -> None:
    parent = calling(db, "a")
    begin(parent, "a")
    db.execute("update lockgate_store.sessions set status = 'paused' where session_id = 'parent'")
    assert lost(db, parent.run_id) == ("suspended", "suspended_awaiting_children")


@pytest.mark.parametrize("calls", [(), (tool("a"),), (tool("a"), client("b"))])
def test_without_evidence_of_a_suspension_a_paused_session_is_driven(
    db: Door, calls: tuple[dict[str, object], ...]
) -> None:
    """A store client may start a run as paused; and what is ours to run is run first."""
    run_id = standings.started_as_paused(db)
    drive = db.drive(run_id)
    if calls:
        drive.reply(1, "let me see", *calls)
    assert lost(db, run_id) == ("requeued", "running")
    assert standings.statuses(db, run_id) == []


def test_an_end_outranks_a_suspension_and_that_a_stop(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "your turn", client())
    paused(db)
    db.execute(STOP)
    assert lost(db, drive.run_id) == ("suspended", "suspended_client_tool")
    StoreClient(db).end(drive.run_id, "completed")
    assert db.call("complete_end", session_id="s1").run_status == "completed"


@proves("requeue_run.suspended")
def test_where_runs_do_not_go_on_by_themselves_a_lost_one_is_paused(db: Door) -> None:
    db.call("register_consumer", consumer="hook")
    drive = standings.stepped(db)
    drive.reply(2, "let me look once more", tool("call-2"))
    drive.append("half a wor")
    assert lost(db, drive.run_id, auto_resume=False) == ("suspended", "suspended_step_partial")

    run, session, stream = db.run(drive.run_id), db.session(), db.stream()
    assert (run.status, run.owner_id) == ("suspended_step_partial", None)
    assert (session.status, stream.status) == ("paused", "paused")
    assert stream.final == {"status": "suspended_step_partial"}
    assert db.chunks()[-1]["type"] == "run_paused"
    assert standings.statuses(db, drive.run_id) == ["suspended_step_partial"]
    assert db.rows("select * from lockgate_store.recoveries") == []
    assert {answer.outcome for _, answer in drive.every_write()} == {"fenced"}


def test_a_resume_goes_on_with_a_paused_one_and_pairs_what_was_under_way(db: Door) -> None:
    drive = standings.stepped(db)
    drive.reply(2, "let me look once more", tool("call-2"))
    lost(db, drive.run_id, auto_resume=False)
    resumed = db.resume()

    assert resumed.outcome == "resumed"
    assert unpaired(db) == set()
    assert db.run(drive.run_id).status == "superseded"
    assert standings.statuses(db, drive.run_id) == ["suspended_step_partial"], "it settled once"
    assert db.drive(resumed.run_id).finish().outcome == "finished"


def test_one_that_waits_for_others_only_is_suspended_so_that_they_can_answer(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "your turn", approval())
    assert lost(db, drive.run_id, auto_resume=False) == ("suspended", "suspended_client_tool")
    assert submit(db, "pay-1", answer=decision(db, True)).run_id is not None


@pytest.mark.parametrize("finding", ["raised", "drained"])
def test_what_its_own_worker_hands_over_goes_on_all_the_same(db: Door, finding: str) -> None:
    run_id = db.driven().run_id
    assert db.requeue(run_id, finding, auto_resume=False).outcome == "requeued"


def test_what_no_worker_has_claimed_is_begun_all_the_same(db: Door) -> None:
    run_id = db.start().run_id
    assert lost(db, run_id, auto_resume=False) == ("requeued", "running")


def test_a_stop_and_a_cancelled_workflow_outrank_a_pause(db: Door) -> None:
    drive = db.driven()
    db.execute(STOP)
    assert lost(db, drive.run_id, auto_resume=False) == ("ended", "interrupted")
    drive = db.driven(say="again")
    db.set_workflow(drive.run_id, status="CANCELLED")
    answer = db.requeue(drive.run_id, "closed_owner", auto_resume=False)
    assert (answer.outcome, answer.run_status) == ("ended", "failed")


@case(3)
@pytest.mark.parametrize(("silent_s", "waits_s"), [(LEASE_S + 1, 0), (40, 0)])
def test_the_lease_that_ran_out_is_the_wait_of_a_run_whose_worker_died(
    db: Door, clock: Clock, silent_s: float, waits_s: float
) -> None:
    db.beat()
    run_id = db.driven().run_id
    db.set_workflow(run_id, status="PENDING", executor_id="worker-1")
    clock.forward(seconds=silent_s)
    answer = db.requeue(run_id, "owner_dead", worker_id="worker-2")

    assert answer.outcome == "requeued"
    assert (answer.next_at - clock.now).total_seconds() == waits_s
    assert db.workflow(db.run(run_id).drive_id).delay_until_epoch_ms is None


def test_later_waits_count_from_the_last_beat_too(db: Door, clock: Clock) -> None:
    run_id = db.start().run_id
    waits = []
    for _ in range(5):
        db.beat()
        db.drive(run_id)
        db.set_workflow(run_id, status="PENDING", executor_id="worker-1")
        clock.forward(seconds=LEASE_S + 1)
        answer = db.requeue(run_id, "owner_dead", worker_id="worker-2", max_attempts=9)
        waits.append((answer.next_at - clock.now).total_seconds())
        clock.forward(seconds=60)

    assert waits == [0, 0, 0, 2, 10], "1, 2, 4, 8 and 16 seconds after its last sign of life"


def test_a_short_lease_shortens_the_first_wait(db: Door) -> None:
    db.beat(lease_ms=500)
    run_id = db.driven().run_id
    answer = db.requeue(run_id, "raised", failure={"message": "boom"})

    assert (answer.next_at - START).total_seconds() == 0.5


@pytest.mark.parametrize("finding", ["drained", "never_claimed"])
def test_what_is_not_counted_waits_for_nothing(db: Door, clock: Clock, finding: str) -> None:
    db.beat()
    run_id = db.start().run_id
    for _ in range(4):
        db.drive(run_id)
        db.requeue(run_id, "raised", failure={"message": "boom"}, max_attempts=9)
    clock.forward(seconds=60)
    if finding == "drained":
        db.drive(run_id)
    else:
        db.set_workflow(run_id, status="PENDING", executor_id="gone", started_at_epoch_ms=1)
    answer = db.requeue(run_id, finding)

    assert (answer.outcome, answer.next_at) == ("requeued", clock.now)
    (budget,) = db.rows("select attempts, deaths from lockgate_store.recoveries")
    assert (budget.attempts, budget.deaths) == (4, 0)


def test_deaths_are_the_losses_in_which_a_worker_died(db: Door, clock: Clock) -> None:
    db.beat()
    run_id = db.driven().run_id
    db.requeue(run_id, "raised")
    db.drive(run_id)
    db.set_workflow(run_id, status="PENDING", executor_id="worker-1")
    clock.forward(seconds=60)
    db.requeue(run_id, "owner_dead", worker_id="worker-2")
    (budget,) = db.rows("select attempts, deaths from lockgate_store.recoveries")

    assert (budget.attempts, budget.deaths) == (2, 1)


def lost_after(db: Door, clock: Clock, run_id: UUID, seconds: float, **more: object) -> Any:
    """Have a run's worker live for so long after its claim, and then be found dead."""
    db.beat()
    db.drive(run_id)
    clock.forward(seconds=seconds)
    db.beat()
    clock.forward(seconds=60)
    answer = db.requeue(run_id, "owner_dead", worker_id="worker-2", **more)
    clock.forward(seconds=60)
    return answer


def budget_of(db: Door) -> tuple[int, int]:
    (row,) = db.rows("select attempts, deaths from lockgate_store.recoveries")
    return row.attempts, row.deaths


@pytest.mark.parametrize(("lived_s", "charged"), [(0, 3), (5, 3), (5.5, 2), (60, 2)])
def test_who_died_twice_and_then_lived_on_has_died_in_anothers_turn(
    db: Door, clock: Clock, lived_s: float, charged: int
) -> None:
    run_id = db.start().run_id
    for _ in range(2):
        lost_after(db, clock, run_id, 60)
    assert budget_of(db) == (2, 2), "at first nobody knows whose death it was"
    lost_after(db, clock, run_id, lived_s)

    assert budget_of(db) == (charged, 3)


def test_who_always_dies_late_is_given_up_after_twice_as_many_deaths(
    db: Door, clock: Clock
) -> None:
    run_id = db.start().run_id
    answers = [lost_after(db, clock, run_id, 60, max_attempts=3) for _ in range(6)]

    assert [answer.outcome for answer in answers] == [*["requeued"] * 5, "exhausted"]
    assert db.session().error_detail["message"] == "The run made no progress in 6 attempts"


def test_what_raised_is_charged_however_long_it_lived(db: Door, clock: Clock) -> None:
    run_id = db.start().run_id
    for _ in range(2):
        lost_after(db, clock, run_id, 0)
    db.beat()
    db.drive(run_id)
    clock.forward(seconds=4)
    db.beat()
    clock.forward(seconds=4)
    db.beat()
    db.requeue(run_id, "raised", failure={"message": "boom"})

    assert budget_of(db) == (3, 2)


def test_the_wait_of_an_attempt_of_any_number_can_be_told(db: Door, clock: Clock) -> None:
    run_id = db.driven().run_id
    db.execute(
        "insert into lockgate_store.recoveries (session_id, run_id, attempts, next_at)"
        " values ('s1', %s, 5000, lockgate.now())",
        run_id,
    )
    answer = db.requeue(run_id, "raised", max_attempts=100_000)

    assert (answer.next_at - clock.now).total_seconds() == 60
