"""A whole story over HTTP: called, awaited, answered in any order, delegated, killed, told once.

The agents are those that come with Lockgate, behind two processes of the command as it comes.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import permutations
from typing import Any

import httpx
import pytest

from tests.support.crashes import CRASHED
from tests.support.crew import Member
from tests.support.histories import accepted
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen
from tests.support.story import (
    ANSWERED,
    FOUND,
    PICKED,
    SAID,
    Teller,
    children_of,
    serve_one_answer,
    servers,
    work,
)

ORDERS = [*permutations(ANSWERED)]
# A chunk is appended when thirty milliseconds were too few: the same story may do without.
BY_CHANCE = "append_chunks"
RULES = {"claim_run", "commit_reply", "commit_result", "start_child", "suspend_run", "finish_run"}


@pytest.fixture
def teller(scene: Scene) -> Iterator[Teller]:
    """A client of two servers, neither of which drives anything."""
    members = servers(scene.crew, "api-A", "api-B")
    with closing(Teller(scene.door, [member.ready() for member in members])) as teller:
        yield teller


def is_over(scene: Scene, session_id: str) -> bool:
    """Say whether the story is told, and the drives of it have come home."""
    drives = [run.drive_id for run in runs_of(scene, session_id)]
    return is_told(scene, session_id) and all(
        scene.door.workflow(drive_id).status == "SUCCESS" for drive_id in drives
    )


def is_told(scene: Scene, session_id: str) -> bool:
    """Say whether the story is told; who died right after an end has not come home."""
    return bool(scene.door.session(session_id).status == "completed")


def runs_of(scene: Scene, session_id: str) -> list[Any]:
    """Return the runs of a story: the root's in their order, then the child's."""
    family = [session_id, *children_of(scene.door, session_id)]
    query = (
        "select * from lockgate_store.runs where session_id = any (%s)"
        " order by session_id <> %s, session_id, turn"
    )
    return scene.door.rows(query, family, session_id)


def play(scene: Scene, teller: Teller, session_id: str, order: Any, worker: Member) -> bool:
    """Tell a story until its worker dies, or to its end; say which, True for the end."""
    teller.start(session_id)

    def waits() -> bool:
        return worker.has_ended or len(teller.awaited(session_id)) == len(ANSWERED)

    seen(waits, f"{session_id} waits for all")
    if not worker.has_ended:
        asked = teller.awaited(session_id)
        assert asked.keys() == set(ANSWERED)
        for each in order:
            answer = teller.answer(session_id, asked[each])
            assert answer.json()["status"] == "accepted", answer.text
    seen(lambda: worker.has_ended or is_over(scene, session_id), f"{session_id} is over")
    return not worker.has_ended


def finish(scene: Scene, teller: Teller, session_id: str) -> None:
    """Answer what a story still waits for, until it is told."""

    def is_answered() -> bool:
        for asked in teller.awaited(session_id).values():
            answer = teller.answer(session_id, asked)
            assert answer.json()["status"] == "accepted", answer.text
        return is_told(scene, session_id)

    seen(is_answered, f"{session_id} is told")


def ending(scene: Scene, session_id: str) -> dict[str, Any]:
    """Return what is left of a story, without the ids that are its own."""
    first, last, *_ = runs_of(scene, session_id)
    (child,) = children_of(scene.door, session_id)
    text = repr([(m.role, m.content) for m in scene.door.messages(session_id)])
    theirs = [(m.role, m.content) for m in scene.door.messages(child)]
    return {
        "history": text.replace(str(last.run_id), "LAST").replace(child, "CHILD"),
        "child": theirs,
        "output": scene.door.session(session_id).output,
        "text": scene.text(session_id),
        "turns": [(run.drive, run.status) for run in runs_of(scene, session_id)],
        "settled": [scene.settlements(run.run_id) for run in (first, last)],
    }


def hold_bodies(scene: Scene, session_id: str, where: str) -> None:
    """Hold that each body ran once, or once more under its id where its result was not committed.

    The ledger is in order: between two notes of one body, no commit of its result may stand.
    """
    runs = {str(run.run_id) for run in runs_of(scene, session_id)}
    notes = [note for note in scene.stage.lines() if note.get("run") in runs]
    tried: dict[str, int] = {}
    committed: set[str] = set()
    for note in notes:
        if note["what"] == "tool":
            assert note["dedupe"] not in committed, where
            tried[note["dedupe"]] = tried.get(note["dedupe"], 0) + 1
        elif note.get("rule") == "commit_result":
            committed.add(f"{note['run']}:{note['step']}:{note['ordinal']}")
    root, paid, child, _ = (str(run.run_id) for run in runs_of(scene, session_id))
    bodies = {"root body of add": f"{root}:1:1", "root body of pay": f"{paid}:1:4"}
    bodies["child body of add"] = f"{child}:1:2"
    assert tried.keys() == set(bodies.values()), where
    assert max(tried.values()) <= 2, where
    assert where not in bodies or tried[bodies[where]] == 2, where


@case(9)
def test_a_story_killed_after_any_commit_or_body_is_told_once(scene: Scene, teller: Teller) -> None:
    whole = scene.crew.act("whole", work, "s0")
    assert play(scene, teller, "s0", ORDERS[0], whole)
    notes = [note for note in scene.stage.lines() if note.get("name")]
    assert {note.get("rule") for note in notes} >= RULES
    names = [note["name"] for note in notes]
    assert sum("body of" in name for name in names) == 3
    assert len(set(names)) == len(names)
    expected = ending(scene, "s0")
    assert (expected["output"], expected["text"]) == (SAID, SAID)
    whole.kill()

    deaths: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        session_id = f"s{number}"
        worker = scene.crew.act(f"dies-{number}", work, session_id, name)
        order = ORDERS[number * 5 % len(ORDERS)]
        if play(scene, teller, session_id, order, worker):
            assert BY_CHANCE in name, f"nobody died after {name}"
            worker.kill()
        else:
            assert worker.ended() == CRASHED, worker.log.read_text()
        deaths[session_id] = name

    scene.crew.act("survivor", work).ready()
    for session_id, name in deaths.items():
        finish(scene, teller, session_id)
        assert ending(scene, session_id) == expected, name
        hold_bodies(scene, session_id, name)
        for each in (session_id, *children_of(scene.door, session_id)):
            assert accepted(scene.door, each)[-1] == "user"


def test_a_server_that_dies_of_each_answer_has_stored_it(scene: Scene, teller: Teller) -> None:
    """Who lost the answer asks another process: the first word stands, and the run goes on once."""
    dying = [scene.crew.act(f"dying-{n}", serve_one_answer) for n in range(len(ANSWERED))]
    scene.crew.act("worker", work, "s1").ready()
    teller.start("s1")
    seen(lambda: len(teller.awaited("s1")) == len(ANSWERED), "all is awaited")
    asked = teller.awaited("s1")
    for member, each in zip(dying, reversed(ANSWERED), strict=True):
        mortal = Teller(scene.door, [member.ready()])
        with closing(mortal), pytest.raises(httpx.TransportError):
            mortal.answer("s1", asked[each])
        assert member.ended() == CRASHED
        again = teller.answer("s1", asked[each])
        assert again.json()["status"] == "already_completed", again.text
    seen(lambda: is_over(scene, "s1"), "the story is told")
    assert [note["outcome"] for note in scene.stage.notes("stored")] == ["accepted"] * 4
    assert [(run.drive, run.status) for run in runs_of(scene, "s1")] == [
        ("start", "superseded"),
        ("continue", "completed"),
    ] * 2
    (theirs,) = children_of(scene.door, "s1")
    assert scene.door.session(theirs).output == FOUND
    told = [p for m in scene.door.messages("s1") if m.role == "tool" for p in m.content]
    assert [p["result"] for p in told[1:3]] == [PICKED["first"], PICKED["second"]]
    hold_bodies(scene, "s1", "a server died")
