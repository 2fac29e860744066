"""What workers may do with what they hold, or have lost, and what goes wrong with it."""

from collections.abc import Sequence
from random import Random
from typing import Any

from psycopg.types.json import Jsonb

from tests.stateful.facts import Call, Name, Run, Session
from tests.stateful.world import WORKERS, Held, World
from tests.support.door import texts_as_chunks, tool

TOO_LARGE = "x" * (1 << 20)


def claims(world: World, dice: Random) -> None:
    """A worker takes a drive, of a run that waits, mostly, and mostly does a step at once."""
    waiting = [each for each in world.running() if each[2].owner is None]
    choice = waiting if waiting and dice.random() < 0.9 else world.current_runs()
    if not choice:
        return
    held = claim(world, *dice.choice(choice), dice.choice(WORKERS))
    if held is not None and dice.random() < 0.6:
        do_a_whole_step(world, held, dice)


def claim(world: World, name: Name, session: Session, run: Run, worker: str) -> Held | None:
    drive_id = world.drive_of(name, run)
    answer = world.ask(
        world.model.claim(session, run, worker),
        "claim_run",
        name,
        run_id=run.run_id,
        drive_id=drive_id,
        worker_id=worker,
    )
    if answer.outcome != "claimed":
        return None
    assert (answer.attempt, answer.step_count) == (run.attempt, run.steps)
    assert (answer.message_count, answer.state) == (len(session.messages), session.state)
    assert len(answer.messages) == answer.message_count
    held = Held(name, run, answer.attempt, drive_id, answer.head_sequence)
    world.held.append(held)
    return held


def is_dispatched_again(world: World, dice: Random) -> None:
    """DBOS hands out a drive that somebody has had."""
    held = world.newest(dice)
    if held is not None:
        world.ask(
            "over",
            "claim_run",
            held.name,
            run_id=held.run.run_id,
            drive_id=held.drive_id,
            worker_id=dice.choice(WORKERS),
        )


def appends(world: World, dice: Random) -> None:
    """A worker appends a batch, sends its last one again, or one that is too large."""
    held = world.newest(dice)
    if held is None:
        return
    chance = dice.random()
    if chance < 0.025:
        append(world, held, [TOO_LARGE], held.head, "too_large")
    elif chance < 0.3 and held.last_batch[1]:
        after, batch = held.last_batch
        valid = world.model.holds(held.run, held.attempt)
        append(world, held, batch, after, "repeated" if valid else "fenced")
    else:
        batch = [f"text {number}" for number in range(dice.randint(1, 3))]
        expected = world.model.append(world.session_of(held), held.run, held.attempt, len(batch))
        after = held.head
        append(world, held, batch, after, expected)
        held.last_batch = (after, batch) if expected == "appended" else (0, [])


def append(world: World, held: Held, batch: list[str], after: int, expected: str) -> None:
    answer = world.ask(
        expected,
        "append_chunks",
        held.name,
        run_id=held.run.run_id,
        attempt=held.attempt,
        after=after,
        chunks=texts_as_chunks(batch),
    )
    if expected == "appended":
        held.head = answer.head_sequence


def commit(world: World, held: Held, expected: str, rule: str, **given: object) -> None:
    """Send a part of a step, and follow the stream's head as a worker does."""
    given |= {"run_id": held.run.run_id, "attempt": held.attempt}
    answer = world.ask(expected, rule, held.name, **given)
    if answer is not None and expected != "fenced" and rule != "finish_run":
        held.head = answer.head_sequence
        assert answer.stop_kind == held.run.stop


def replies(world: World, dice: Random) -> None:
    held = world.newest(dice)
    if held is not None:
        reply(world, held, dice.choice(((), (), ("server",), ("server", "client"))))


def reply(world: World, held: Held, kinds: Sequence[str], retention: int | None = None) -> None:
    """Send a reply with calls of these kinds."""
    step = held.run.steps + 1
    ids = ["" if kind == "server" else world.new_call_id() for kind in kinds]
    calls = [Call(held.run, *call, retention) for call in zip(kinds, ids, strict=True)]
    expected = world.model.reply(world.session_of(held), held.run, held.attempt, calls)
    commit(
        world,
        held,
        expected,
        "commit_reply",
        step=step,
        content=Jsonb([{"type": "text", "text": "said"}]),
        calls=Jsonb([spelled(call) for call in calls]),
    )


def spelled(call: Call) -> dict[str, Any]:
    if call.kind == "server":
        return tool()
    kept = {} if call.retention_ms is None else {"retentionMs": call.retention_ms}
    return {**tool(call.call_id), "kind": call.kind, **kept}


def a_tool_answers(world: World, dice: Random) -> None:
    held = world.newest(dice)
    if held is not None:
        answer_call(world, held, dice.randint(1, 3))


def answer_call(world: World, held: Held, ordinal: int) -> None:
    expected = world.model.result(world.session_of(held), held.run, held.attempt, ordinal)
    step = held.run.steps + 1
    response = {"success": True, "result": "done"}
    commit(world, held, expected, "commit_result", step=step, ordinal=ordinal, response=response)


def commits_a_step(world: World, dice: Random) -> None:
    held = world.newest(dice)
    if held is not None:
        commit_step(world, held, a_state(dice))


def commit_step(world: World, held: Held, state: dict[str, int] | None) -> None:
    step = held.run.steps + 1 if held.run.calls else held.run.steps
    expected = world.model.step(world.session_of(held), held.run, held.attempt, state)
    commit(world, held, expected, "commit_step", step=step, state=state)


def does_a_whole_step(world: World, dice: Random) -> None:
    held = world.newest(dice)
    if held is not None and world.model.holds(held.run, held.attempt):
        do_a_whole_step(world, held, dice)


def do_a_whole_step(world: World, held: Held, dice: Random) -> None:
    """Do a step from its reply to its commit, where none is open, or die in the middle of it."""
    if held.run.calls:
        return
    calls = dice.choice((0, 1, 2))
    reply(world, held, ["server"] * calls)
    for ordinal in range(1, calls):
        answer_call(world, held, ordinal)
        if dice.random() < 0.1:
            return
    if calls and dice.random() < 0.5:
        answer_last_call(world, held, calls, a_state(dice))
    elif calls:
        answer_call(world, held, calls)
        commit_step(world, held, a_state(dice))


def answer_last_call(world: World, held: Held, ordinal: int, state: dict[str, int] | None) -> None:
    """Send the last result of a step, which commits the step too."""
    session, step = world.session_of(held), held.run.steps + 1
    world.model.result(session, held.run, held.attempt, ordinal)
    commit(
        world,
        held,
        world.model.step(session, held.run, held.attempt, state),
        "commit_result",
        step=step,
        ordinal=ordinal,
        response={"success": True, "result": "done"},
        closes_step=True,
        state=state,
    )


def a_state(dice: Random) -> dict[str, int] | None:
    return {"c": dice.randint(1, 9)} if dice.random() < 0.6 else None


def finishes(world: World, dice: Random) -> None:
    """A worker ends its run; where a stop stands, mostly as stopped."""
    held = world.newest(dice)
    if held is not None:
        finish(world, held, dice)


def finish(world: World, held: Held, dice: Random) -> None:
    status = dice.choice(("completed", "completed", "failed", "failed", "stopped"))
    if held.run.stop is not None and dice.random() < 0.8:
        status = "stopped"
    is_cut_off, output = dice.random() < 0.2, dice.choice((None, "so"))
    partial = Jsonb([{"type": "text", "text": "as I was say"}]) if is_cut_off else None
    expected = world.model.finish(
        world.session_of(held), held.run, held.attempt, status, output, is_cut_off
    )
    commit(
        world,
        held,
        expected,
        "finish_run",
        status=status,
        output=None if output is None else Jsonb(output),
        partial=partial,
    )
