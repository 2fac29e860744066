"""What a drive does that waits for others, what those answer, and who asks a run to stop."""

from random import Random
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.stateful.drive_moves import (
    a_state,
    answer_call,
    claim,
    commit,
    commit_step,
    finish,
    reply,
)
from tests.stateful.entry_moves import an_acting_user
from tests.stateful.facts import Call, Name
from tests.stateful.store_moves import a_run_of, suspend_in_parts
from tests.stateful.waits import Answer
from tests.stateful.world import WORKERS, Held, World

KINDS = ("client", "client", "approval", "approval", "subagent", "subagent", "server")
RETENTIONS = (None, 0, 10_000)
RESULT, ERROR = Answer("result"), Answer("error")


def waits_for_others(world: World, dice: Random) -> None:
    """A drive goes on with its step, or begins one that others are to answer, and suspends."""
    held = world.newest(dice)
    if held is None or not world.model.holds(held.run, held.attempt):
        return
    if not held.run.calls:
        kinds = [dice.choice(KINDS) for _ in range(dice.choice((1, 1, 2, 3)))]
        reply(world, held, kinds, dice.choice(RETENTIONS))
    for ordinal, call in enumerate(held.run.calls, start=1):
        if world.model.is_ours(world.session_of(held), call):
            does_what_is_ours(world, held, ordinal, call, dice)
    chance = dice.random()
    if held.run.awaits_any() or chance < 0.4:
        suspend(world, held, held.run.steps + 1, a_state(dice))
        if dice.random() < 0.4:
            everybody_answers(world, held, dice)
    elif chance < 0.8:
        commit_step(world, held, a_state(dice))


def does_what_is_ours(world: World, held: Held, ordinal: int, call: Call, dice: Random) -> None:
    """Run the body of a call, or start its child; rarely it is left for another day."""
    chance = dice.random()
    if chance < 0.1:
        return
    if call.kind == "subagent":
        delegate(world, held, call, dice)
        return
    if chance < 0.3:
        begin_call(world, held, ordinal)
    answer_call(world, held, ordinal)


def delegate(world: World, held: Held, call: Call, dice: Random) -> None:
    """Start a child; its start may be sent twice, and it may end before its parent suspends."""
    start_child(world, held, call, dice.choice((None, "helper")))
    if dice.random() < 0.1:
        start_child(world, held, call, None)
    if dice.random() < 0.3:
        for child_id, record in world.session_of(held).children.items():
            if record.call_id == call.call_id:
                lives_at_once(world, (held.name[0], child_id), dice)


def lives_at_once(world: World, name: Name, dice: Random) -> None:
    """Claim and end the run of a child, if it is there."""
    child = world.model.sessions.get(name)
    if child is None or child.current is None:
        return
    held = claim(world, name, child, child.current, dice.choice(WORKERS))
    if held is not None:
        finish(world, held, dice)


def everybody_answers(world: World, held: Held, dice: Random) -> None:
    """Answer all that a run waits for of clients and people, in any order."""
    asked = [call for call in held.run.calls if call.is_asked]
    for call in dice.sample(asked, len(asked)):
        submit(world, held.name, call, an_answer(dice, call), None)


def suspends(world: World, dice: Random) -> None:
    """A worker suspends its run, whether or not it may."""
    held = world.newest(dice)
    if held is not None:
        step = held.run.steps + (1 if dice.random() < 0.9 else 2)
        suspend(world, held, step, a_state(dice))


def suspend(world: World, held: Held, step: int, state: dict[str, int] | None) -> None:
    session = world.session_of(held)
    expected = world.model.suspend(session, held.run, held.attempt, step, state)
    answer = world.ask(
        expected,
        "suspend_run",
        held.name,
        run_id=held.run.run_id,
        attempt=held.attempt,
        step=step,
        state=state,
    )
    if expected in ("suspended", "ended", "continued"):
        assert answer.run_status == held.run.status
    if expected == "continued":
        assert session.current is not None
        assert answer.run_id == session.current.run_id


def begins_a_call(world: World, dice: Random) -> None:
    held = world.newest(dice)
    if held is not None:
        begin_call(world, held, dice.randint(1, 2))


def begin_call(world: World, held: Held, ordinal: int) -> None:
    expected = world.model.begin_call(held.run, held.attempt, ordinal)
    commit(world, held, expected, "begin_call", step=held.run.steps + 1, ordinal=ordinal)


def starts_a_child(world: World, dice: Random) -> None:
    """A drive starts the child of a call, or asks again for one that it has."""
    held = world.newest(dice)
    calls = [] if held is None else world.session_of(held).asked.values()
    mine = [call for call in calls if call.kind == "subagent"]
    if held is not None and mine:
        start_child(world, held, dice.choice(mine), dice.choice((None, "helper")))


def start_child(world: World, held: Held, call: Call, name: str | None) -> None:
    """Ask for the child of a call: a sub-agent, or with a name a companion."""
    parent = world.session_of(held)
    expected = world.model.find_child(parent, held.run, held.attempt, call, name)
    answer = world.ask(
        expected,
        "start_child",
        held.name,
        run_id=held.run.run_id,
        attempt=held.attempt,
        tool_call_id=call.call_id,
        agent_type=parent.agent or "nobody's",
        input={"message": "do it"},
        mode="background" if name else "subagent",
        name=name,
    )
    if expected == "started":
        world.names.append((held.name[0], answer.child_session_id))
        world.model.bear(parent, call, name, answer.child_session_id, answer.child_run_id)
        world.learn()
    if expected in ("started", "repeated", "name_taken"):
        held.head = answer.head_sequence
        child = parent.children[answer.child_session_id]
        assert (answer.status, answer.stop_kind) == (child.status, held.run.stop)


def somebody_answers(world: World, dice: Random) -> None:
    """Somebody submits an answer: mostly one that is awaited, by the call's session or its root."""
    asked = [
        (name, call)
        for name, session in world.model.sessions.items()
        for call in session.asked.values()
        if call.kind != "subagent" or dice.random() < 0.1
    ]
    waiting = [each for each in asked if each[1].is_asked and each[1].run.status != "running"]
    choice = waiting if waiting and dice.random() < 0.75 else asked
    if not choice or dice.random() < 0.04:
        submit(world, world.a_name(dice), None, an_answer(dice, None), None)
        return
    name, call = dice.choice(choice)
    root = world.model.sessions[name].root
    through = (name[0], root) if root is not None and dice.random() < 0.5 else name
    if dice.random() < 0.04:
        through = world.a_name(dice)
    acting = an_acting_user(dice) if dice.random() < 0.1 else None
    submit(world, through, call, an_answer(dice, call), acting, plans=dice.random() < 0.1)


def an_answer(dice: Random, call: Call | None) -> Answer:
    """Roll an answer; mostly one that the call takes."""
    decided = Answer("approval", approved=dice.random() < 0.7)
    chance = dice.random()
    if chance < 0.1:
        return dice.choice((RESULT, decided, decided._replace(is_anothers_id=True)))
    if chance < 0.13:
        return RESULT._replace(flaw=True)
    if chance < 0.25:
        return ERROR
    return decided if call is not None and call.kind == "approval" else RESULT


def submit(
    world: World,
    name: Name,
    call: Call | None,
    answer: Answer,
    acting: str | None,
    plans: bool = False,
) -> None:
    """Send an answer, and hold that it is taken as the model says; so is what was planned."""
    call_id = "nowhere" if call is None else call.call_id
    expected, meant = world.model.submit(name, call_id, answer, acting)
    given = {
        "tool_call_id": call_id,
        "answer": said(world, call_id, answer),
        "acting_user_id": acting,
    }
    if plans:
        world.ask(expected, "plan_submit", name, **given)
    goes_on = None
    if expected == "accepted" and meant is not None:
        goes_on = world.model.take(meant, answer)
        world.model.moved.add(world.model.session_with(meant.run).name)
    told = world.ask(expected, "submit_tool_result", name, **given)
    assert told.run_id == (goes_on and goes_on.run_id)
    assert told.approved == (meant and meant.approved)


def said(world: World, call_id: str, answer: Answer) -> Jsonb:
    """Spell an answer; an approval's own id is read as a client would have it from its chunk."""
    if answer.flaw:
        return Jsonb({"kind": "whatever"})
    if answer.kind != "approval":
        return Jsonb({"kind": "client-tool-result", answer.kind: "so"})
    rows = world.door.rows(
        "select approval_id from lockgate_store.tool_calls where tool_call_id = %s", call_id
    )
    known = rows[0].approval_id if rows and not answer.is_anothers_id else None
    return Jsonb(
        {
            "kind": "approval-response",
            "approvalId": known or "another one",
            "approved": answer.approved,
        }
    )


def goes_on_with_a_batch(world: World, dice: Random) -> None:
    """Somebody thinks that a session's batch is complete; other hands may have left it so."""
    held = world.newest(dice)
    if held is not None and world.model.holds(held.run, held.attempt) and not held.run.calls:
        reply(world, held, ["server"])
        answer_call(world, held, 1)
        suspend_in_parts(world, held.name, held.run, dice)
    complete = [name for name, each in world.model.sessions.items() if each.is_complete()]
    name = dice.choice(complete) if complete and dice.random() < 0.8 else world.a_name(dice)
    continue_session(world, name, an_acting_user(dice) if dice.random() < 0.2 else None)


def continue_session(world: World, name: Name, acting: str | None) -> None:
    expected = world.model.continue_session(name, acting)
    answer = world.ask(expected, "continue_session", name, acting_user_id=acting)
    if expected == "continued":
        current = world.model.sessions[name].current
        assert answer.run_id == (current and current.run_id)


def asks_to_stop(world: World, dice: Random) -> None:
    """Somebody asks a run to stop, by its name or whichever is live."""
    name, named = a_run_of(world, dice)
    kind = dice.choice(("interrupt", "interrupt", "abort"))
    run_id: UUID | None = named if dice.random() < 0.5 else None
    more = {"include_suspended": dice.random() < 0.4} if kind == "interrupt" else {}
    acting = an_acting_user(dice) if dice.random() < 0.2 else None
    expected, run = world.model.stop(
        name, kind, run_id, more.get("include_suspended", False), acting
    )
    answer = world.ask(expected, kind, name, run_id=run_id, acting_user_id=acting, **more)
    if run is not None:
        assert (answer.run_id, answer.run_status) == (run.run_id, run.status)
