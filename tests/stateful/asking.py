"""How an entry or a run start is sent: spelled for its rule, answered, and so in the model too."""

from typing import Any

from psycopg.types.json import Jsonb

from tests.stateful.entries import Entry, Expect
from tests.stateful.store_client import RunStart
from tests.stateful.world import World

ACCEPTED = ("started", "resumed")


def send(world: World, entry: Entry, plans: bool = False) -> None:
    """Send an entry, and hold that the answer is the model's; so is what was planned, if it was."""
    decision = world.model.decide(entry)
    arguments = spelled(entry)
    if plans:
        world.ask(decision.outcome, f"plan_{entry.verb}", entry.name, **arguments)
    answer = world.ask(decision.outcome, entry.verb, entry.name, **arguments)
    world.reached["entries"] += 1
    assert answer.cause == decision.cause
    if answer.cause is not None:
        world.reached[f"cause.{answer.cause}"] += 1
    world.sent.append(entry)
    if decision.outcome in ACCEPTED:
        assert entry.run_id in (None, answer.run_id)
        world.model.enter(entry, answer.run_id)
        world.learn()
        return
    about = decision.run
    assert answer.run_id == (about and about.run_id)
    assert about is None or answer.run_status == about.status
    if decision.outcome == "interrupting" and about is not None:
        world.model.interrupt(about)


def spelled(entry: Entry) -> dict[str, Any]:
    """Spell an entry as the arguments of its verb."""
    message = said(entry.says)
    arguments: dict[str, Any] = {
        "agent_type": entry.agent,
        "request_key": "no key" if entry.flaw == "key" else entry.key,
        "run_id": entry.run_id,
        "concurrent_entry": "whenever" if entry.flaw == "policy" else entry.policy,
        "expect": expected(entry.expect),
        "acting_user_id": entry.who.acting,
    }
    if entry.verb == "retry":
        return arguments | {"checkpoint_id": entry.checkpoint, "message": message}
    if entry.verb == "resume":
        parts = {"mode": entry.mode, "message": message, "checkpointId": entry.checkpoint}
        return arguments | {"options": _given(parts)}
    return arguments | {
        "input": _given({"message": message, "state": dict(entry.patch) or None}),
        "user_id": entry.who.user,
        "tags": None if entry.who.tags is None else list(entry.who.tags),
        "parent_session_id": entry.who.parent,
    }


def said(says: tuple[str, ...]) -> Jsonb | None:
    """Spell a message: one as a text, several as a list."""
    if len(says) < 2:
        return Jsonb(says[0]) if says else None
    return Jsonb([{"role": "user", "content": text} for text in says])


def expected(expect: Expect | None) -> Jsonb | None:
    if expect is None:
        return None
    run_id, run_status, session_status = expect
    return Jsonb(
        {
            "currentRunId": None if run_id is None else str(run_id),
            "currentRunStatus": run_status,
            "sessionStatus": session_status,
        }
    )


def _given(parts: dict[str, Any]) -> Jsonb:
    return Jsonb({
        part: value.obj if isinstance(value, Jsonb) else value
        for part, value in parts.items()
        if value is not None
    })  # fmt: skip


def send_run_start(world: World, start: RunStart) -> None:
    """Send a store client's run start, and hold that the answer is the model's."""
    decision = world.model.decide_start(start)
    answer = world.ask(decision.outcome, "commit_run_start", start.name, **planned(world, start))
    world.reached["entries"] += 1
    assert answer.cause == decision.cause
    if answer.cause is not None:
        world.reached[f"cause.{answer.cause}"] += 1
    world.sent.append(start)
    if decision.outcome == "started":
        assert answer.run_id == start.run_id
        world.model.start_run(start)
        world.learn()
    else:
        assert answer.run_id == (decision.run and decision.run.run_id)


def planned(world: World, start: RunStart) -> dict[str, Any]:
    """Spell a run start as the arguments of its rule."""
    finish = start.finish and {"runId": str(start.finish[0]), "status": start.finish[1]}
    return {
        "run_id": start.run_id,
        "drive": "whatever" if start.flaw else start.drive,
        "session_status": start.status,
        "expect": expected(start.expect),
        "messages": said(start.says),
        "keep_messages": start.keeps,
        "state": dict(start.patch) or None,
        "request_key": start.key,
        "request_digest": digest_of(world, start.request) if start.key else None,
        "finish_current": finish,
        "displace_owner": start.displaces,
        "acting_user_id": start.acting,
    }


def digest_of(world: World, request: object) -> str:
    """Return the digest of an entry's request, as a store client would ask for it."""
    assert isinstance(request, tuple)
    verb, agent, says, patch, mode, checkpoint = request
    return str(
        world.door.call(
            "request_digest",
            kind="execute" if verb == "start" else verb,
            agent_type=agent,
            message=said(says),
            state=dict(patch) or None,
            mode=mode,
            checkpoint_id=checkpoint,
        ).request_digest
    )
