"""What a store client may do that drives runs itself, part by part, and dies between the parts."""

from random import Random
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.stateful.asking import send_run_start
from tests.stateful.entry_moves import KEYS, a_patch, a_plan, an_acting_user
from tests.stateful.facts import Name, Run, Session, stream_end
from tests.stateful.store_client import ENDS, STATUSES, RunStart
from tests.stateful.world import NAMES, WORKERS, World
from tests.support.door import AGENT

DRIVES = ("start", "resume", "retry", "continue")


def starts_a_run(world: World, dice: Random) -> None:
    """A store client commits a run start; mostly as one read of the session has it."""
    present = list(world.model.sessions)
    name = dice.choice(present or NAMES) if dice.random() < 0.95 else dice.choice(NAMES)
    session = world.model.sessions.get(name)
    drive = dice.choice(DRIVES)
    key = dice.choice(KEYS)
    count = len(session.messages) if session else 0
    goes_back = drive in ("resume", "retry") and dice.random() < 0.4
    says = dice.choice(((), ("hi",), ("hi", "no"))) if drive != "start" else ("hi",)
    request = (drive if drive != "continue" else "start", AGENT, says, (), None, None)
    taken = world.current_runs() if dice.random() < 0.03 else []
    start = RunStart(
        name=name,
        run_id=dice.choice(taken)[2].run_id if taken else world.new_run_id(),
        drive=drive,
        status=dice.choice(("active", "active", "paused")),
        expect=a_plan(world, name, dice),
        says=says,
        keeps=dice.randint(0, count + (dice.random() < 0.05)) if goes_back else None,
        patch=a_patch(dice),
        key=key,
        request=request if key else None,
        finish=an_end(session, dice),
        displaces=an_owner(session, dice),
        acting=an_acting_user(dice) if dice.random() < 0.1 else None,
        flaw="drive" if dice.random() < 0.02 else None,
    )
    send_run_start(world, start)


def an_end(session: Session | None, dice: Random) -> tuple[UUID, str] | None:
    """Roll what a client believes of the current run's end: mostly what is recorded."""
    if session is not None and session.terminal and dice.random() < 0.8:
        run_id, status = session.terminal
        return run_id, status if dice.random() < 0.9 else "failed"
    if dice.random() < 0.05:
        return UUID(int=0), "completed"
    return None


def an_owner(session: Session | None, dice: Random) -> str | None:
    """Roll whom a client displaces: the owner, anybody, or nobody."""
    if session is not None and session.current is not None and dice.random() < 0.4:
        return session.current.owner
    return dice.choice((None, None, *WORKERS))


def a_run_of(world: World, dice: Random) -> tuple[Name, UUID]:
    """Roll a run: mostly the current one of its session, else an old one, or one of nobody."""
    current = world.current_runs()
    if not current or dice.random() < 0.05:
        return dice.choice(NAMES), UUID(int=0)
    name, session, run = dice.choice(current)
    return name, (run if dice.random() < 0.9 else dice.choice(session.runs)).run_id


def ends_a_session(world: World, dice: Random) -> None:
    name, run_id = a_run_of(world, dice)
    status, acting = dice.choice((*ENDS, "superseded")), an_acting_user(dice)
    end_session(world, name, run_id, status, dice.choice((None, "so")), acting)


def end_session(
    world: World, name: Name, run_id: UUID, status: str, output: str | None, acting: str | None
) -> None:
    world.ask(
        world.model.end_session(name, run_id, status, output, acting),
        "commit_terminal",
        name,
        run_id=run_id,
        status=status,
        output=None if output is None else Jsonb(output),
        acting_user_id=acting,
    )


def moves_a_run(world: World, dice: Random) -> None:
    """Write a run's status: often the one that the session's terminal commit has recorded."""
    name, run_id = a_run_of(world, dice)
    session = world.model.sessions.get(name)
    status = dice.choice(STATUSES) if dice.random() < 0.97 else "over"
    if session is not None and session.terminal and dice.random() < 0.4:
        status = session.terminal[1]
    elif session is not None and session.status == "paused" and dice.random() < 0.4:
        status = "running"
    acting = an_acting_user(dice) if dice.random() < 0.2 else None
    outcome = world.model.move_run(name, run_id, status, acting)
    world.ask(
        outcome, "update_run_status", name, run_id=run_id, status=status, acting_user_id=acting
    )


def closes_a_stream(world: World, dice: Random) -> None:
    """Write a stream's end: mostly the one that its run's status asks for."""
    name, run_id = a_run_of(world, dice)
    session = world.model.sessions.get(name)
    status = dice.choice(("ended", "failed", "paused"))
    if session is not None and session.current is not None and dice.random() < 0.6:
        status = stream_end(session.current.status) or status
    fence = str(run_id) if dice.random() < 0.95 else "no run"
    if fence == "no run":
        outcome = "invalid_request"
    else:
        outcome = world.model.close_stream(name, run_id, status, None)
    world.ask(outcome, "close_stream", name, expect_run_id=fence, status=status)


def ends_a_run_in_parts(world: World, dice: Random) -> None:
    """End a run as a store client does: session, run, stream; it may die between the parts."""
    running = world.current_runs()
    if not running:
        return
    name, _, run = dice.choice(running)
    status, parts = dice.choice(ENDS), dice.randint(1, 3)
    end_session(world, name, run.run_id, status, "so", None)
    if parts > 1:
        outcome = world.model.move_run(name, run.run_id, status, None)
        world.ask(outcome, "update_run_status", name, run_id=run.run_id, status=status)
    if parts > 2:
        closed = stream_end(status) or "ended"
        outcome = world.model.close_stream(name, run.run_id, closed, None)
        world.ask(outcome, "close_stream", name, expect_run_id=str(run.run_id), status=closed)


def suspends_a_run(world: World, dice: Random) -> None:
    """Suspend a run as a store client does: its status, and then perhaps its stream."""
    running = world.running()
    if not running:
        return
    answered = [each for each in running if each[2].calls and not each[2].awaits_any()]
    name, _, run = dice.choice(answered if answered and dice.random() < 0.5 else running)
    suspend_in_parts(world, name, run, dice)


def suspend_in_parts(world: World, name: Name, run: Run, dice: Random) -> None:
    status = dice.choice(("suspended_client_tool", "suspended_awaiting_children"))
    outcome = world.model.move_run(name, run.run_id, status, None)
    world.ask(outcome, "update_run_status", name, run_id=run.run_id, status=status)
    if dice.random() < 0.6:
        outcome = world.model.close_stream(name, run.run_id, "paused", None)
        world.ask(outcome, "close_stream", name, expect_run_id=str(run.run_id), status="paused")
