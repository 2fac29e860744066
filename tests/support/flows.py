"""Every flow of a run, as its client goes through it: what it asks for, and what it waits for.

A flow is a generator: it yields while it waits for somebody else, and is asked again by and by. So
it goes on behind a crash as a client does, who knows nothing of it. What the client does is asked
of its stories alone; where a session stands is read at each look.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID, uuid5

from lockgate import FromCheckpoint, RunHandle, WithMessage
from tests.support.answers import pending, submitted
from tests.support.door import tool
from tests.support.remains import family_of, runs_of
from tests.support.scene import Scene, call, said, script
from tests.support.stage_agents import SCRIPTED
from tests.support.standstill import Whose
from tests.support.suspensions import forget_to_continue

SAID = "All is done, " + "word by word " * 14 + "to the end."  # more than one batch of chunks
ADD = {"calls": [call("add", a=1, b=2)]}
DONE = {"say": "Done."}
IDS = UUID("00000000-0000-4000-8000-000000000000")
SUSPENDED = ("suspended_client_tool", "suspended_awaiting_children")
IDLE = ("completed", "failed", "interrupted")

Waits: TypeAlias = Iterator[None]


@dataclass
class Client:
    """Who goes through a flow in a session of its own.

    rests     it waits for its session's worker to be lost
    was_lost  it has been
    """

    scene: Scene
    session_id: str
    rests: bool = field(default=False)
    was_lost: bool = field(default=False)
    run_id: UUID | None = field(default=None)

    def start(self, *turns: Any, **more: Any) -> None:
        self.run_id = self.scene.start(self.session_id, *turns, **more).run_id

    def enters(self, entry: Any) -> None:
        run: RunHandle = self.scene.run(entry)
        self.run_id = run.run_id

    def enters_over(self, say: str) -> Any:
        """Enter with a message that interrupts what executes; told so, a caller asks again."""
        told = self.scene.door.start(
            self.session_id,
            say,
            agent_type=SCRIPTED,
            concurrent_entry="interrupt_previous",
            run_id=self.run_id,
        )
        self.scene.wake()
        return told

    @property
    def session(self) -> Any:
        return self.scene.door.session(self.session_id)

    def gate(self, name: str = "gate") -> str:
        """Name a gate of this session alone."""
        return f"{self.session_id}.{name}"

    def is_at(self, gate: str) -> bool:
        return bool(self.scene.stage.notes("waits", gate=gate))

    def has_a_result(self) -> bool:
        assert self.run_id is not None
        return any(each.response is not None for each in self.scene.door.calls(self.run_id))

    def ended(self) -> Waits:
        """Wait until the session's current run is over."""
        while self.session.status not in IDLE:
            yield

    def is_lost(self) -> Waits:
        """Wait until the session's worker is lost."""
        while not self.was_lost:
            self.rests = True
            yield
        self.rests = False

    def is_asked(self, count: int = 1) -> Waits:
        """Wait until a run of the family waits for so many answers."""
        while len(self.asked()) < count:
            yield

    def asked(self) -> list[Any]:
        """Return the calls of the family that wait; before their run does they take no answer."""
        family = family_of(self.scene.door, self.session_id)
        suspended = [r for r in runs_of(self.scene.door, family) if r.status in SUSPENDED]
        return [each for run in suspended for each in pending(self.scene, run.run_id)]

    def children(self) -> list[Any]:
        query = "select * from lockgate_store.children where session_id = %s"
        return self.scene.door.rows(query, self.session_id)

    def answers(self, asked: list[Any], *, approved: bool = True) -> None:
        """Answer calls through the root session, each once."""
        for each in asked:
            decision = {"approved": approved}
            given = decision if each.kind == "approval" else {"result": "b"}
            told = submitted(self.scene, each.tool_call_id, self.session_id, **given)
            assert told.outcome == "accepted", told


@dataclass(frozen=True)
class Flow:
    """A flow, and how many commits it has.

    commits  of its sessions, without the appends of chunks
    appends  as many of those there are in every life
    whose    the sessions that are counted and stand: see Point
    lost_at  where a crash loses what nobody can bring back: when, and at which rule
    lost     the tables in which that is seen
    by_any_runs  it depends on the crash which runs tell it, and in which of their steps
    """

    play: Callable[[Client], Waits]
    commits: int
    appends: int = 0
    whose: Whose = "family"
    lost_at: tuple[tuple[str, str], ...] = ()
    lost: tuple[str, ...] = ("history", "session", "calls", "usage")
    by_any_runs: bool = False

    def loses(self, stands: Any) -> bool:
        return stands is not None and (stands["when"], stands["rule"]) in self.lost_at

    @property
    def name(self) -> str:
        return self.play.__name__ + ("" if self.whose == "family" else f"_{self.whose}")


# Starts, and what happens in a run of its own.


def parallel_tools(client: Client) -> Waits:
    counted = call("count", what="pages", value=2)
    first = [call("add", a=1, b=2), call("remember", name="n", value=1), counted]
    client.start({"calls": [*first, call("tell", name="x")]}, ADD, {"say": SAID})
    yield from client.ended()


def failing_tool(client: Client) -> Waits:
    """A tool fails, and a model call breaks off once and is repeated."""
    broken = {"say": f"Once @break:{client.gate()} more."}
    client.start({"calls": [call("boom", message="it broke"), ADD["calls"][0]]}, broken)
    yield from client.ended()


def tool_that_never_runs_twice(client: Client) -> Waits:
    client.scene.stage.open(client.gate())
    client.start({"calls": [call("once", gate=client.gate())]}, DONE)
    yield from client.ended()


def forced_completion(client: Client) -> Waits:
    """Two steps of tools are all that is allowed; the next one has to bring the output."""
    wrong = {"calls": [call("__finish__", pages="many"), call("add", a=1, b=1)]}
    client.start(ADD, wrong, {"output": {"title": "All"}}, agent_type="reporter")
    yield from client.ended()


def several_turns(client: Client) -> Waits:
    for number, turn in enumerate((DONE, {"say": "And again."}, ADD), 1):
        client.start(turn, request_key=f"turn-{number}")
        yield from client.ended()


# Resume and retry, of sessions that another worker has brought to their end.


def first_steps(client: Client, *turns: Any) -> Any:
    """Play the first step of a script as a worker of old, and leave its run to its drive."""
    drive = client.scene.door.driven(client.session_id, said(*turns), agent_type=SCRIPTED)
    drive.reply(1, "", tool("call-1", "add", a=1, b=2))
    drive.result(1, 1, 3, closes_step=True)
    client.scene.door.set_workflow(drive.run_id, status="SUCCESS")
    return drive


def checkpoint_of(client: Client) -> str:
    """Return the id of the checkpoint after the first step."""
    page = client.scene.door.call("list_checkpoints", session_id=client.session_id)
    return str(min(each["id"] for each in page.items))


def resume_with_message(client: Client) -> Waits:
    drive = first_steps(client, ADD, DONE)
    client.scene.run(client.scene.own.interrupt(client.session_id))
    drive.finish("stopped")
    message = WithMessage(said(ADD, {"say": "Otherwise."}))
    client.enters(client.scene.own.resume(client.session_id, SCRIPTED, message))
    yield from client.ended()


def resume_from_checkpoint(client: Client) -> Waits:
    drive = first_steps(client, ADD, ADD, DONE)
    drive.reply(2, "", tool("call-2", "add", a=1, b=2))
    client.scene.run(client.scene.own.interrupt(client.session_id))
    drive.finish("stopped")
    options = FromCheckpoint(checkpoint_of(client))
    client.enters(client.scene.own.resume(client.session_id, SCRIPTED, options))
    yield from client.ended()


def retry_of_a_failed_run(client: Client) -> Waits:
    first_steps(client, ADD, ADD, DONE).finish("failed", error_detail={"message": "no"})
    client.enters(client.scene.own.retry(client.session_id, SCRIPTED, request_key="again"))
    yield from client.ended()


def retry_from_a_checkpoint(client: Client) -> Waits:
    drive = first_steps(client, ADD, ADD, DONE)
    drive.reply(2, "", tool("call-2", "add", a=9, b=9))
    drive.result(2, 1, 18, closes_step=True)
    drive.finish("failed", error_detail={"message": "no"})
    given = {"checkpoint_id": checkpoint_of(client)}
    client.enters(client.scene.own.retry(client.session_id, SCRIPTED, **given))
    yield from client.ended()


# Answers of clients and of persons.

ASKS = {"calls": [call("add", a=1, b=2), call("pick"), call("mail", to="me")]}


def approved(client: Client) -> Waits:
    client.start(ASKS, {"say": SAID})
    yield from client.is_asked(2)
    client.answers(client.asked())
    yield from client.ended()


def denied(client: Client) -> Waits:
    client.start(ASKS, DONE)
    yield from client.is_asked(2)
    client.answers(client.asked(), approved=False)
    yield from client.ended()


def partly_answered(client: Client) -> Waits:
    """One answer comes before the crash, the other one when somebody has taken over."""
    client.start(ASKS, DONE)
    yield from client.is_asked(2)
    client.answers(client.asked()[:1])
    yield from client.is_lost()
    client.answers(client.asked())
    yield from client.ended()


# Children.


def helps(*turns: Any) -> dict[str, Any]:
    return call("subagent__helper", message=script(*turns))


def brings(found: Any) -> dict[str, Any]:
    return {"output": {"found": found}}


def sub_agent(client: Client) -> Waits:
    """A child with a tool of its own, and a tool beside it."""
    client.start({"calls": [helps(ADD, brings(1)), ADD["calls"][0]]}, DONE, agent_type="parent")
    yield from client.ended()


def sub_agent_that_is_awaited(client: Client) -> Waits:
    """The child goes on only when its parent waits for it, whatever was lost before."""
    held = {"calls": [call("hold", gate=client.gate())]}
    client.start({"calls": [helps(held, brings(1)), ADD["calls"][0]]}, DONE, agent_type="parent")
    while client.session.status != "paused":
        yield
    client.scene.stage.open(client.gate())
    yield from client.ended()


def child_that_is_asked(client: Client) -> Waits:
    """The child waits for a client, who answers through the root session."""
    child = helps({"calls": [call("pick")]}, brings("picked"))
    client.start({"calls": [child]}, DONE, agent_type="parent")
    yield from client.is_asked()
    client.answers(client.asked())
    yield from client.ended()


def companion_that_blocks(client: Client) -> Waits:
    """A spawn is answered by the companion's first run, a message and a wait by its second."""
    spawn = {"agent": "digger", "name": "d", "initialMessage": script({"say": "gold"})}
    send = {"name": "d", "message": script({"say": f"@hold:{client.gate()} silver"})}
    client.start(
        {"calls": [{**call("companion__spawnAgent", **spawn), "id": "spawn"}]},
        {"calls": [{**call("companion__sendMessage", **send), "id": "send"}]},
        {"calls": [{**call("companion__waitForResult", name="d"), "id": "wait"}]},
        DONE,
        agent_type="keeper",
    )
    while not any(each.waiting_call_ids for each in client.children()):
        yield
    client.scene.stage.open(client.gate())
    yield from client.ended()


def companion_in_the_background(client: Client) -> Waits:
    """The parent ends first: its companion waits at a gate until then."""
    dug = script({"say": f"@hold:{client.gate()} deep"}, brings("late"))
    spawn = {"agent": "helper", "name": "h", "initialMessage": dug}
    client.start({"calls": [call("companion__spawnAgent", **spawn)]}, DONE, agent_type="parent")
    yield from client.ended()
    client.scene.stage.open(client.gate())
    (child,) = client.children()
    while client.scene.door.session(child.child_session_id).status not in IDLE:
        yield


def remote_child(client: Client) -> Waits:
    calls = [call("subagent__far", message="go far"), call("add", a=1, b=2)]
    client.start({"calls": calls}, DONE, agent_type="parent")
    yield from client.ended()


# Stops.


def stopped(client: Client, verb: str, *turns: Any) -> Waits:
    """Stop a run when it has come to its gate."""
    client.start(*turns, DONE)
    while not (client.is_at(client.gate()) and client.has_a_result()):
        yield
    client.scene.run(getattr(client.scene.own, verb)(client.session_id, reason="enough"))
    yield from client.ended()


def interrupt_in_a_model_call(client: Client) -> Waits:
    yield from stopped(client, "interrupt", ADD, {"say": f"One @hold:{client.gate()} two."})


def abort_in_a_model_call(client: Client) -> Waits:
    yield from stopped(client, "abort", ADD, {"say": f"One @hold:{client.gate()} two."})


def interrupt_in_a_body(client: Client) -> Waits:
    both = [call("add", a=1, b=2), call("hold", gate=client.gate())]
    yield from stopped(client, "interrupt", {"calls": both})


def abort_in_a_body(client: Client) -> Waits:
    both = [call("add", a=1, b=2), call("hold", gate=client.gate())]
    yield from stopped(client, "abort", {"calls": both})


def stopped_when_nobody_hears(client: Client) -> Waits:
    """The stop comes when the run's worker is lost, wherever the run stands then."""
    client.start(ADD, ADD, {"say": f"One @hold:{client.gate()} two."})
    while not (client.was_lost or client.is_at(client.gate())):
        yield
    yield from client.is_lost()
    client.scene.run(client.scene.own.interrupt(client.session_id, reason="late"))
    yield from client.ended()


def interrupt_previous(client: Client) -> Waits:
    """The last message wins: it interrupts the run before it, and waits for its end."""
    client.start(ADD, {"say": f"One @hold:{client.gate()} two."})
    while not client.is_at(client.gate()):
        yield
    client.run_id = uuid5(IDS, client.session_id)
    while client.enters_over(script({"say": "The last word."})).outcome == "interrupting":
        yield
    yield from client.ended()


# What a sweep has to find.


def worker_that_is_lost_at_once(client: Client) -> Waits:
    client.start(ADD, DONE)
    yield from client.ended()


def forgotten_batch(client: Client) -> Waits:
    """Somebody has stored the last answer and started nothing."""
    client.start({"calls": [call("pick")]}, DONE)
    yield from client.is_asked()
    assert client.run_id is not None
    forget_to_continue(client.scene.door, client.run_id)
    yield from client.is_lost()
    yield from client.ended()


def session_that_never_ran(client: Client) -> Waits:
    client.scene.door.create_session(client.session_id, agent_type=SCRIPTED)
    yield from client.is_lost()
    yield from client.ended()


def drained(client: Client) -> Waits:
    """A body is under way when the worker is told to leave."""
    client.start({"calls": [call("hold", gate=client.gate())]}, DONE)
    while not client.is_at(client.gate()):
        yield
    yield from client.is_lost()
    client.scene.stage.open(client.gate())
    yield from client.ended()
