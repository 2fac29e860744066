"""Time, workers that live and die, who cleans up after them, and who is told of what settled."""

import math
from random import Random

from tests.stateful.drives import MAX_ATTEMPTS
from tests.stateful.entry_moves import an_acting_user
from tests.stateful.facts import Name, Run, Session
from tests.stateful.wait_moves import continue_session
from tests.stateful.world import CONSUMERS, WORKERS, Held, World

FINDINGS = (
    *("raised", "drained", "closed_owner", "owner_dead", "never_claimed", "unserved", "wait_over"),
)


def time_passes(world: World, dice: Random) -> None:
    """Time passes; workers that do not beat in it may be dead by then."""
    seconds = dice.choice((0, 1, 4, 6, 6, 31, 400))
    beating = dice.choice((WORKERS, WORKERS, WORKERS[:1], WORKERS[1:], ()))
    world.told.append(("seconds pass", seconds))
    world.clock.forward(seconds=seconds)
    world.model.now += seconds
    for worker in beating:
        beats(world, worker, drains=dice.random() < 0.1)


def beats(world: World, worker: str, drains: bool) -> None:
    world.call("heartbeat", worker_id=worker, draining=drains)
    world.model.beat(worker, drains)


def beats_on(world: World, drains: bool) -> None:
    """Let one worker beat for longer than a lease, so that it may judge the others."""
    for seconds in (0, 4, 4):
        world.told.append(("seconds pass", seconds))
        world.clock.forward(seconds=seconds)
        world.model.now += seconds
        beats(world, WORKERS[0], drains)


def a_workflow_changes(world: World, dice: Random) -> None:
    """DBOS dispatches the workflow of a run that waits, or one ends under its run."""
    running = world.running()
    if not running:
        return
    name, _, run = dice.choice(running)
    status = dice.choice(("PENDING", "PENDING", "SUCCESS", "ERROR", "CANCELLED"))
    started = None
    if status == "PENDING":
        if run.workflow != "ENQUEUED":
            return
        run.dispatched = (dice.choice(WORKERS), world.model.now)
        started = int(world.clock.now.timestamp() * 1000)
    drive_id = world.drive_of(name, run)
    run.workflow = status
    world.told.append(("DBOS writes", (run.run_id, status, run.dispatched)))
    world.door.execute(
        "update dbos.workflow_status set status = %s, executor_id = %s, started_at_epoch_ms = %s"
        " where workflow_uuid = %s",
        status,
        run.dispatched and run.dispatched[0],
        started,
        drive_id,
    )


def is_requeued(world: World, dice: Random) -> None:
    """A drive that raised, a drain or a sweep hands a run over; rightly or not."""
    running = world.running()
    if running:
        name, session, run = dice.choice(running)
        finding, worker = dice.choice(FINDINGS), dice.choice(WORKERS)
        most = dice.choice((1, MAX_ATTEMPTS, MAX_ATTEMPTS))
        requeue(world, name, session, run, finding, worker, most)


def requeue(
    world: World,
    name: Name,
    session: Session,
    run: Run,
    finding: str,
    worker: str,
    max_attempts: int = MAX_ATTEMPTS,
    auto_resume: bool = True,
) -> None:
    drive_id = world.drive_of(name, run)
    outcome = world.model.requeue(session, run, finding, worker, max_attempts, auto_resume)
    if outcome != "stale" and finding in ("raised", "drained"):
        world.reached[f"finding.{finding}"] += 1
    world.ask(
        outcome,
        "requeue_run",
        name,
        run_id=run.run_id,
        drive_id=drive_id,
        finding=finding,
        worker_id=worker,
        max_attempts=max_attempts,
        auto_resume=auto_resume,
    )


def a_finding_comes_late(world: World, dice: Random) -> None:
    """Somebody acts on a drive that is over by now."""
    held = world.newest(dice)
    if held is not None and is_over(world, held):
        world.ask(
            "stale",
            "requeue_run",
            held.name,
            run_id=held.run.run_id,
            drive_id=held.drive_id,
            finding=dice.choice(FINDINGS),
            worker_id=dice.choice(WORKERS),
        )


def is_over(world: World, held: Held) -> bool:
    is_there = world.model.run_named(held.run.run_id) is not None
    return not is_there or world.drive_of(held.name, held.run) != held.drive_id


def sweeps(world: World, dice: Random) -> None:
    """A worker looks for what nothing executes, and acts on each finding by its rule."""
    if dice.random() < 0.7:
        beats_on(world, drains=dice.random() < 0.3)
    worker = dice.choice((*WORKERS[:1], *WORKERS))
    world.told.append(("sweep", worker))
    # What is due at once: the model does not count when a session was last written.
    rows = world.door.call_many("sweep", worker_id=worker, end_limit_ms=-1)
    found = {(row.tenant_id, row.session_id): row.finding for row in rows}
    judges, expected = world.model.judges(worker), world.model.found()
    expected = {name: f for name, f in expected.items() if judges or f == "wait_over"}
    assert found == expected, f"sweep finds {found}, and not {expected}"
    for name, finding in expected.items():
        world.reached[f"finding.{finding}"] += 1
        session = world.model.sessions[name]
        if finding == "first_run_overdue":
            world.ask(
                world.model.fail(name, None), "fail_session_without_run", name, error_detail={}
            )
        elif finding == "end_due":
            complete_end(world, name, None)
        elif finding == "batch_complete":
            continue_session(world, name, None)
        elif session.current is not None and dice.random() < 0.8:
            auto_resume = dice.random() < 0.7
            requeue(world, name, session, session.current, finding, worker, auto_resume=auto_resume)


def a_wait_ends(world: World, dice: Random) -> None:
    """The time of an attempt that was to wait has come, and somebody lets it begin."""
    waiting = [each for each in world.running() if each[2].workflow == "DELAYED"]
    if waiting:
        name, session, run = dice.choice(waiting)
        seconds = max(0, math.ceil(run.dispatch_at - world.model.now))
        world.told.append(("seconds pass", seconds))
        world.clock.forward(seconds=seconds)
        world.model.now += seconds
        beats(world, WORKERS[0], drains=False)
        if world.model.finding(run) == "wait_over":
            world.reached["finding.wait_over"] += 1
        requeue(world, name, session, run, "wait_over", dice.choice(WORKERS))


def an_end_is_completed(world: World, dice: Random) -> None:
    """Somebody thinks that a store client has left an end half written; rightly or not."""
    acting = an_acting_user(dice) if dice.random() < 0.2 else None
    complete_end(world, world.a_name(dice), acting)


def complete_end(world: World, name: Name, acting: str | None) -> None:
    expected = world.model.complete_end(name, acting)
    world.ask(expected, "complete_end", name, acting_user_id=acting)


def takes_settlements(world: World, dice: Random) -> None:
    """A consumer leases what is due to it, oldest first, and marks it unless it dies before."""
    consumer, limit = dice.choice(CONSUMERS), dice.randint(1, 3)
    world.model.register(consumer)
    due = world.model.due(consumer)
    rows = world.door.call_many("claim_settlements", consumer=consumer, limit=limit)
    world.told.append(("claim_settlements", (consumer, limit)))
    taken = [row.delivery_id for row in rows]
    assert set(taken) <= set(due), f"{taken} are not all due: {list(due)}"
    assert len(taken) == min(limit, len(due)), f"{taken} of {list(due)}"
    left = [due[each].settled_at for each in due if each not in taken]
    is_oldest = not left or all(due[each].settled_at <= min(left) for each in taken)
    assert is_oldest, f"{taken} are not the oldest of {list(due)}"
    for row in rows:
        world.model.lease(due[row.delivery_id])
        assert row.tries == due[row.delivery_id].tries
        world.touched.add((row.tenant_id, row.session_id))
        if dice.random() < 0.7:
            world.delivery_ids.append(row.delivery_id)
            mark(world, row.delivery_id, consumer)


def mark(world: World, delivery_id: str, consumer: str) -> None:
    expected = world.model.mark(delivery_id, consumer)
    world.ask(expected, "mark_delivered", delivery_id=delivery_id, consumer=consumer)


def marks_again(world: World, dice: Random) -> None:
    """A consumer whose answer was lost marks once more, or marks what was never due."""
    if world.delivery_ids:
        mark(world, dice.choice(world.delivery_ids), dice.choice((*CONSUMERS, "nobody")))
        world.touched.update(world.model.sessions)
