"""Every flow of one session: its entries, its answers, its stops, and what a sweep finds of it."""

from typing import Any
from uuid import UUID, uuid5

from lockgate import FromCheckpoint, WithMessage
from tests.support.door import tool
from tests.support.flow_client import Client, Waits
from tests.support.scene import call, said, script
from tests.support.stage_agents import SCRIPTED
from tests.support.suspensions import forget_to_continue

SAID = "All is done, " + "word by word " * 14 + "to the end."  # more than one batch of chunks
ADD = {"calls": [call("add", a=1, b=2)]}
DONE = {"say": "Done."}
IDS = UUID("00000000-0000-4000-8000-000000000000")


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
    kept = checkpoint_of(client)
    client.enters(client.scene.own.retry(client.session_id, SCRIPTED, checkpoint_id=kept))
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
