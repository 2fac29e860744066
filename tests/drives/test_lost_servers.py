"""A server dies at the commit of an entry, and the same request is sent again to another one.

It has one effect: the run, or the answer, or the stop that the first one may have committed is
found and told of, and what it did not commit is done by the second.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx

from lockgate.rules import sessions
from tests.support.clients import KEY, Client
from tests.support.crew_parts import Part
from tests.support.door import Door, tool
from tests.support.points import Point, Standstill, When
from tests.support.proves import case
from tests.support.scene import Scene, call, said
from tests.support.seen import seen
from tests.support.stage import Stage
from tests.support.stage_agents import SCRIPTED, staged_runtime
from tests.support.standstill import CRASHED

WHEN: tuple[When, ...] = ("before", "sent", "after")
DONE = {"say": "Done."}
BEGUN = {"agentType": SCRIPTED}
Sent = tuple[str, dict[str, Any]]


# What stands before each request, and the request: its path and its body.


def start(door: Door, session_id: str) -> Sent:
    return f"/sessions/{session_id}/start", {**BEGUN, "input": {"message": said(DONE)}}


def resume(door: Door, session_id: str) -> Sent:
    drive = door.driven(session_id, said(DONE), agent_type=SCRIPTED)
    door.call("interrupt", session_id=session_id)
    drive.finish("stopped")
    return f"/sessions/{session_id}/resume", {**BEGUN, "options": {"mode": "continue"}}


def retry(door: Door, session_id: str) -> Sent:
    drive = door.driven(session_id, said(DONE), agent_type=SCRIPTED)
    drive.finish("failed", error_detail={"message": "no"})
    return f"/sessions/{session_id}/retry", BEGUN


def submit(door: Door, session_id: str) -> Sent:
    turns = ({"calls": [call("pick")]}, DONE)
    drive = door.driven(session_id, said(*turns), agent_type=SCRIPTED)
    drive.reply(1, "", {**tool("pick-1", "pick"), "kind": "client"})
    assert drive.suspend().outcome == "suspended"
    answer = {"kind": "client-tool-result", "toolCallId": "pick-1", "result": "a"}
    return f"/sessions/{session_id}/submit-tool-result", answer


def interrupt(door: Door, session_id: str) -> Sent:
    run_id = door.start(session_id, said(DONE), agent_type=SCRIPTED).run_id
    return f"/sessions/{session_id}/interrupt", {"runId": str(run_id), "reason": "enough"}


def abort(door: Door, session_id: str) -> Sent:
    run_id = door.start(session_id, said(DONE), agent_type=SCRIPTED).run_id
    return f"/sessions/{session_id}/abort", {"runId": str(run_id), "reason": "enough"}


def create_session(door: Door, session_id: str) -> Sent:
    return "/sessions", {**BEGUN, "sessionId": session_id}


# What the repeat is told: where the first one was committed, and where it was not.
TOLD: dict[Callable[[Door, str], Sent], tuple[Any, Any]] = {
    start: ("attached", "started"),
    resume: ("attached", "resumed"),
    retry: ("attached", "resumed"),
    submit: ("already_completed", "accepted"),
    interrupt: ("stopping", "stopping"),
    abort: ("stopping", "stopping"),
    create_session: (False, True),
}
# In the end: the session, its runs, and the stop that stands on the last one.
ENDS: dict[Callable[[Door, str], Sent], tuple[str, int, str | None]] = {
    start: ("completed", 1, None),
    resume: ("completed", 2, None),
    retry: ("completed", 2, None),
    submit: ("completed", 2, None),
    interrupt: ("interrupted", 1, "interrupt"),
    abort: ("failed", 1, "abort"),
    create_session: ("active", 0, None),
}


def send(client: Client, session_id: str, sent: Sent) -> dict[str, Any] | None:
    """Send a request, and return its answer, or None where the server is lost before it."""
    path, body = sent
    try:
        answer = client.http.post(path, json=body, headers={KEY: f"key-of-{session_id}"})
    except httpx.TransportError:
        return None
    found: dict[str, Any] = answer.json()
    assert answer.is_success, found
    return found


def said_by(answer: dict[str, Any] | None) -> Any:
    """Return the word of an answer that says what was done."""
    assert answer is not None
    return answer.get("created", answer.get("status"))


@case(1)
def test_an_entry_whose_server_is_lost_around_its_commit_has_one_effect(scene: Scene) -> None:
    rows = {f"{e.__name__}.{when}": (e, Point(1, when)) for e in TOLD for when in WHEN}
    rows |= {f"{entry.__name__}.past": (entry, Point(2, "after")) for entry in TOLD}
    points = {name: point for name, (_, point) in rows.items()}
    sent = {name: entry(scene.door, name) for name, (entry, _) in rows.items()}
    mortal = scene.crew.server("mortal", "--no-worker", crash=Standstill(points))
    with (
        closing(Client(mortal.ready())) as client,
        ThreadPoolExecutor(len(rows)) as threads,
    ):
        first = {name: threads.submit(send, client, name, each) for name, each in sent.items()}
        scene.stage.seen("stands", len(TOLD) * len(WHEN))
        for name in (each for each in rows if each.endswith(".past")):
            assert first[name].result() is not None, "one commit is all there is"
        scene.stage.open("die")
        assert mortal.ended() == CRASHED
        answers = {name: each.result() for name, each in first.items()}
    assert {name for name, answer in answers.items() if answer} == {
        name for name in rows if name.endswith(".past")
    }

    other = scene.crew.server("other", "--no-worker")
    with closing(Client(other.ready())) as client:
        for name, (entry, point) in rows.items():
            was_there, was_not = TOLD[entry]
            again = said_by(send(client, name, sent[name]))
            assert again == (was_not if point.when == "before" else was_there), name
            assert said_by(send(client, name, sent[name])) == was_there, name
    scene.crew.worker("worker", settled=True).ready()
    for name, (entry, _) in rows.items():
        status, runs, stop = ENDS[entry]
        seen(lambda name=name, to=status: scene.door.session(name).status == to, name)  # type: ignore[misc]
        query = "select * from lockgate_store.runs where session_id = %s order by turn"
        found = scene.door.rows(query, name)
        assert len(found) == runs, name
        assert [run.stop_kind for run in found[-1:]] == [stop] * bool(runs), name


def delete(part: Part, stage: Stage, *session_ids: str) -> None:
    """Delete sessions, all at once, as an application does by the rule itself."""

    async def work() -> None:
        own = await staged_runtime(stage).open(part.url)
        named = [{"session_id": each} for each in session_ids]
        calls = [own.database.call(sessions.delete_session, **each) for each in named]
        for each, answer in zip(named, await asyncio.gather(*calls), strict=True):
            stage.note("deleted", outcome=str(answer.outcome), **each)
        await own.close()

    asyncio.run(work())


def test_a_delete_whose_process_is_lost_around_its_commit_is_done_by_the_repeat(
    scene: Scene,
) -> None:
    points: dict[str, Point] = {when: Point(1, when) for when in WHEN}
    for when in WHEN:
        scene.door.finished(when)
    mortal = scene.crew.act("mortal", delete, *WHEN, crash=Standstill(points))
    scene.stage.seen("stands", len(WHEN))
    scene.stage.open("die")
    assert mortal.ended() == CRASHED
    assert scene.stage.notes("deleted") == []
    scene.crew.act("other", delete, *WHEN).ended()
    told = {note["session_id"]: note["outcome"] for note in scene.stage.notes("deleted")}
    assert told == {"before": "deleted", "sent": "not_found", "after": "not_found"}
    assert scene.door.rows("select from lockgate_store.sessions") == []
    assert scene.door.rows("select from lockgate_store.runs") == []
