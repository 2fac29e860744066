"""What callers may do: enter a session in every way, repeat a request, make and delete sessions."""

from collections import deque
from dataclasses import replace
from random import Random
from uuid import UUID

from tests.stateful.asking import send, send_run_start
from tests.stateful.entries import Entry, Expect, Identity
from tests.stateful.facts import Name
from tests.stateful.store_client import RunStart
from tests.stateful.world import NAMES, REMEMBERED, World
from tests.support.door import AGENT

KEYS = (None, None, None, "k1", "k2", "k3", "k4", "k5")
MODES = ("continue", "with_message", "from_checkpoint")
FITTING = {
    "interrupted": "resume",
    "stranded": "resume",
    "paused": "resume",
    "failed": "retry",
}
ANYONE = Identity()


def enters(world: World, dice: Random) -> None:
    """Somebody wants a run, by any verb and in any spelling."""
    send(world, an_entry(world, dice), plans=dice.random() < 0.1)


def asks_again(world: World, dice: Random) -> None:
    """A client whose answer was lost repeats its request, to the letter or with other input."""
    if not world.sent:
        return
    sent = dice.choice(world.sent)
    if isinstance(sent, RunStart):
        send_run_start(world, sent)
    else:
        other = dice.random() < 0.2
        send(world, replace(sent, says=("something else",)) if other and sent.says else sent)


def an_entry(world: World, dice: Random) -> Entry:
    """Roll an entry; mostly one that its session takes."""
    name = world.a_name(dice)
    session = world.model.sessions.get(name)
    verb = FITTING.get(world.model.standing(session), "start") if session else "start"
    if dice.random() < 0.35:
        verb = dice.choice(("start", "resume", "retry"))
    mode = dice.choice(MODES) if verb == "resume" else None
    goes_back = mode == "from_checkpoint" or (verb == "retry" and dice.random() < 0.3)
    speaks = verb == "start" or mode == "with_message" or (verb == "retry" and dice.random() < 0.4)
    return Entry(
        verb=verb,
        name=name,
        agent=AGENT if dice.random() < 0.97 else "sales",
        says=dice.choice((("hi",), ("hi",), ("no",), ("hi", "no"))) if speaks else (),
        patch=a_patch(dice) if verb == "start" else (),
        mode=mode,
        checkpoint=a_checkpoint(world, name, dice) if goes_back else None,
        key=dice.choice(KEYS),
        run_id=a_run_id(world, dice),
        policy=dice.choice(("reject", "interrupt_previous")),
        expect=a_plan(world, name, dice) if dice.random() < 0.25 else None,
        who=an_identity(world, name, verb, dice),
        flaw=dice.choice(("key", "policy")) if dice.random() < 0.02 else None,
    )


def a_patch(dice: Random) -> tuple[tuple[str, int], ...]:
    return ((dice.choice("ab"), dice.randint(1, 3)),) if dice.random() < 0.3 else ()


def a_checkpoint(world: World, name: Name, dice: Random) -> str:
    """Roll a checkpoint, of that session but for a few."""
    name = name if dice.random() < 0.9 else dice.choice(NAMES)
    session = world.model.sessions.get(name)
    if session is None or not session.checkpoints:
        return dice.choice(("nowhere", f"{UUID(int=0)}:1"))
    return dice.choice(session.checkpoints).checkpoint_id


def a_run_id(world: World, dice: Random) -> UUID | None:
    chance = dice.random()
    if chance < 0.6:
        return None
    taken = world.current_runs() if chance > 0.97 else []
    return dice.choice(taken)[2].run_id if taken else world.new_run_id()


def a_plan(world: World, name: Name, dice: Random) -> Expect:
    """Roll what a planner saw: mostly what is so, or else one thing that is not."""
    session = world.model.sessions.get(name)
    run = session.current if session else None
    seen = Expect(
        run.run_id if run else None,
        run.status if run else None,
        session.status if session else None,
    )
    wrong = (
        seen._replace(run_id=UUID(int=0)),
        seen._replace(run_status="superseded"),
        seen._replace(session_status="paused"),
    )
    return dice.choice((seen, seen, seen, *wrong))


def an_identity(world: World, name: Name, verb: str, dice: Random) -> Identity:
    """Roll who calls: nobody in particular, the session's user, or another one."""
    chance = dice.random()
    if chance < 0.75:
        return ANYONE
    session = world.model.sessions.get(name)
    user = (session.user if session else None) if chance < 0.9 else dice.choice(("ann", "bob"))
    if verb != "start" or dice.random() < 0.5:
        return Identity(acting=user)
    tags = (None, (), ("vip",))
    return Identity(user=user, tags=dice.choice(tags), parent=dice.choice((None, None, "s1", "s2")))


def creates(world: World, dice: Random) -> None:
    """Somebody makes a session without a run, or finds it made; rarely with nonsense."""
    absent = [name for name in NAMES if name not in world.model.sessions]
    name = dice.choice(absent or NAMES)
    entry = Entry(
        verb="start",
        name=name,
        agent=AGENT if dice.random() < 0.9 else "sales",
        patch=a_patch(dice),
        who=an_identity(world, name, "start", dice),
        flaw="agent" if dice.random() < 0.05 else None,
    )
    world.ask(
        world.model.create(entry),
        "create_session",
        name,
        agent_type="" if entry.flaw else entry.agent,
        state=dict(entry.patch) or None,
        user_id=entry.who.user,
        tags=None if entry.who.tags is None else list(entry.who.tags),
        parent_session_id=entry.who.parent,
        acting_user_id=entry.who.acting,
    )
    world.reached["entries"] += 1


def fails_before_its_first_run(world: World, dice: Random) -> None:
    idle = [name for name, session in world.model.sessions.items() if not session.runs]
    name = dice.choice(idle if idle and dice.random() < 0.8 else NAMES)
    acting = an_acting_user(dice)
    outcome = world.model.fail(name, acting)
    world.ask(outcome, "fail_session_without_run", name, error_detail={}, acting_user_id=acting)


def deletes(world: World, dice: Random) -> None:
    """Somebody deletes a session with all below it."""
    name, acting = world.a_name(dice), an_acting_user(dice)
    tree = [world.model.sessions[each] for each in world.model.tree(name, acting)]
    gone = {run.run_id for session in tree for run in session.runs}
    outcome, count = world.model.delete(name, acting)
    answer = world.ask(outcome, "delete_session", name, acting_user_id=acting)
    assert answer.deleted_sessions == count
    world.touched.update(world.names)
    # A run id lives once: a drive of the deleted run could not be told from one of its namesake.
    world.sent = deque((sent for sent in world.sent if sent.run_id not in gone), REMEMBERED)


def an_acting_user(dice: Random) -> str | None:
    return dice.choice((None, None, None, "ann", "bob"))
