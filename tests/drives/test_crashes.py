"""A worker dies right after its first, second … last commit: nothing is lost, nothing is doubled.

Each run is driven by a worker of its own that dies at its own commit; then one worker takes over
whatever was left. So a whole row of crashes waits out one lease.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from lockgate import RunHandle
from tests.support.answers import pending, submitted
from tests.support.crashes import CRASHED, Crash
from tests.support.crew import Member
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

SAID = "All is done, " + "word by word " * 14 + "to the end."  # more than one batch of chunks
TURNS = (
    {"calls": [call("add", a=1, b=2), call("boom", message="it broke"), call("tell", name="x")]},
    {"calls": [call("add", a=3, b=4)], "think": "Once more."},
    {"say": SAID},
)
WAITS = (
    {"calls": [call("add", a=1, b=2), call("pick"), call("mail", to="me"), call("tell", name="x")]},
    {"say": SAID},
)
# A body may be under way when the worker dies of one of these.
BEFORE_A_RESULT = {"commit_reply", "commit_result", "claim_run", "append_chunks"}
KINDS = frozenset({"claim_run", "append_chunks", "commit_reply", "commit_result", "finish_run"})
WHOLE = 2  # lives without a crash, until the row is taken for whole
MOST = 40  # commits of one run; the row of crashes ends long before


@dataclass(frozen=True)
class Lost:
    """A run whose worker died: where, and what it had committed by then."""

    run: RunHandle
    pid: int
    where: str
    commits: list[dict[str, Any]]

    def committed(self, rule: str) -> list[tuple[int, int | None]]:
        """Return the steps, and ordinals, that a rule had committed."""
        return [(c["step"], c["ordinal"]) for c in self.commits if c["rule"] == rule]


def crashed(scene: Scene, session_id: str, crash: Crash, turns: Any = TURNS) -> Lost | None:
    """Start a run, have a worker drive it until it dies; None if it reached the end alive.

    What the run waits for on its way is answered, and the worker goes on with it.
    """
    run = scene.start(session_id, *turns)
    worker = scene.crew.worker(
        f"dies-{session_id}", crash=crash, concurrency=1, sweep_every_s=600, settled=False
    )
    _rests(scene, worker, run.run_id)
    if not worker.has_ended and pending(scene, run.run_id):
        _rests(scene, worker, answered(scene, session_id, run.run_id))
    if not worker.has_ended:
        worker.kill()
        return None
    assert worker.ended() == CRASHED, worker.log.read_text()
    (note,) = scene.stage.notes("crash", pid=worker.pid)
    commits = scene.stage.notes("commit", run=run.run_id)
    return Lost(run, worker.pid, note["where"], commits)


def _rests(scene: Scene, worker: Member, run_id: UUID) -> None:
    """Wait until a worker has died or has nothing more to do for a run."""
    seen(lambda: worker.has_ended or scene.door.run(run_id).status != "running", str(run_id))
    if not worker.has_ended:
        # Its last commit is seen before the worker has counted it.
        seen(lambda: worker.has_ended or _workflow_is_closed(scene, run_id), f"{run_id} is over")


def _workflow_is_closed(scene: Scene, run_id: UUID) -> bool:
    drive_id = scene.door.run(run_id).drive_id
    return bool(scene.door.workflow(drive_id).status == "SUCCESS")


def answered(scene: Scene, session_id: str, run_id: UUID) -> UUID:
    """Answer all that a run waits for, and return the run that goes on."""
    going_on: UUID | None = None
    for each in pending(scene, run_id):
        given: dict[str, Any] = {"approved": True} if each.kind == "approval" else {"result": "b"}
        going_on = submitted(scene, each.tool_call_id, session_id, **given).run_id
    assert going_on is not None
    return going_on


def outcome(scene: Scene, session_id: str) -> Any:
    """Return what is left of a run: its history, and its text as a reader has it."""
    history = [(m.role, m.step, m.content) for m in scene.door.messages(session_id)]
    return history, scene.text(session_id), scene.door.session(session_id).output


def nothing_is_done_twice(scene: Scene, lost: Lost) -> None:
    """Hold that what was committed before the crash was not asked for again after it."""
    run_id = lost.run.run_id
    calls = [n for n in scene.stage.notes("model", run=run_id) if n["pid"] != lost.pid]
    bodies = [n for n in scene.stage.notes("tool", run=run_id) if n["pid"] != lost.pid]
    for step, _ in lost.committed("commit_reply"):
        assert step not in [note["step"] for note in calls], lost.where
    for step, ordinal in lost.committed("commit_result"):
        assert f"{run_id}:{step}:{ordinal}" not in [note["dedupe"] for note in bodies], lost.where
    every = [note["dedupe"] for note in scene.stage.notes("tool", run=run_id)]
    assert set(every) == {f"{run_id}:1:1", f"{run_id}:2:1"}
    assert len(every) <= 3, "one body at most was in flight"
    assert len(scene.stage.notes("model", run=run_id)) <= 4


def a_row_of_crashes(
    scene: Scene, turns: Any = TURNS, kinds: frozenset[str] = KINDS
) -> tuple[list[Lost], str]:
    """Crash at the first commit, the second …; return them, and a session that met no crash.

    A busy machine makes fewer batches of the same text, so one life without a crash may come early,
    and no count need fall on a batch or on the end: so one life is aimed at each kind of commit.
    """
    whole: list[str] = []
    aimed = [crashed(scene, f"at-{rule}", Crash(at=rule), turns) for rule in sorted(kinds)]
    rows = [lost for lost in aimed if lost is not None]
    assert {lost.where for lost in rows} == kinds
    for n in range(1, MOST):
        lost = crashed(scene, f"s{n}", Crash(after=n), turns)
        if lost is None:
            whole.append(f"s{n}")
        else:
            rows.append(lost)
        if len(whole) == WHOLE:
            return rows, whole[0]
    raise AssertionError("a run has more commits than that")


@case(9)
def test_a_worker_that_dies_after_any_commit_loses_and_doubles_nothing(scene: Scene) -> None:
    rows, whole = a_row_of_crashes(scene)
    expected = outcome(scene, whole)
    assert expected[1:] == (SAID, SAID)

    scene.crew.worker("takes-over", settled=True).ready()
    for lost in rows:
        assert scene.settled(lost.run).status == "completed", lost.where
        assert outcome(scene, lost.run.session_id) == expected, lost.where
        nothing_is_done_twice(scene, lost)
        assert scene.settlements(lost.run.run_id) == ["completed"]
    lost_before_its_end = {str(lost.run.run_id) for lost in rows if lost.where != "finish_run"}
    seen(lambda: recovered(scene) == lost_before_its_end, "each recovery is told, and no other")
    assert told_of(scene, len(rows) + WHOLE) == {f"{n['run']}:completed" for n in runs(scene)}


@case(9)
def test_a_run_that_waits_for_answers_loses_and_doubles_nothing_either(scene: Scene) -> None:
    rows, whole = a_row_of_crashes(scene, WAITS, KINDS | {"suspend_run"})
    expected = outcome(scene, whole)
    assert expected[1:] == (SAID, SAID)

    scene.crew.worker("takes-over").ready()
    for n, lost in enumerate(rows, 1):
        session_id = lost.run.session_id
        scene.settled(lost.run)
        if pending(scene, lost.run.run_id):
            answered(scene, session_id, lost.run.run_id)
        run_id = scene.door.session(session_id).current_run_id
        assert scene.settled(run_id).status == "completed", (n, lost.where)
        assert outcome(scene, session_id) == expected, (n, lost.where)
        assert scene.settlements(lost.run.run_id) == ["suspended_client_tool"]
        assert scene.settlements(run_id) == ["completed"]
        for body in ("add", "mail"):
            of_run = {str(lost.run.run_id), str(run_id)}
            bodies = [x for x in scene.stage.notes("tool", name=body) if x["run"] in of_run]
            assert len({note["dedupe"] for note in bodies}) == 1
            # Twice only where the crash fell between the body and the commit of its result.
            assert len(bodies) <= 1 + (lost.where in BEFORE_A_RESULT), (n, lost.where)


def recovered(scene: Scene) -> set[str]:
    return {note["run"] for note in scene.stage.notes("after_entry", drive="recover")}


def runs(scene: Scene) -> list[dict[str, Any]]:
    return [{"run": row.run_id} for row in scene.door.rows("select * from lockgate_store.runs")]


def told_of(scene: Scene, count: int) -> set[str]:
    """Wait until so many settlements were told to the hook; each of them once."""
    told = [note["delivery"] for note in scene.stage.seen("settled", count)]
    assert len(told) == len(set(told)) == count
    return set(told)


@case(1)
@pytest.mark.parametrize("inside", [True, False], ids=["before-the-commit", "after-the-commit"])
def test_a_kill_around_the_commit_of_the_end_leaves_one_effect(scene: Scene, inside: bool) -> None:
    """The end is one DBOS step: its effect and DBOS's own record of it are one commit."""
    crash = Crash(inside_end=True) if inside else Crash(after_end=True)
    lost = crashed(scene, "s1", crash)
    assert lost is not None
    row = scene.door.run(lost.run.run_id)
    assert row.status == ("running" if inside else "completed")
    recorded = scene.door.rows(
        "select * from dbos.datasource_outputs where workflow_id = %s", str(_first_drive(scene))
    )
    assert len(recorded) == (0 if inside else 1)
    scene.crew.worker("takes-over").ready()
    assert scene.settled(lost.run).status == "completed"
    assert scene.settlements(lost.run.run_id) == ["completed"]
    assert scene.text("s1") == SAID
    assert scene.door.run(lost.run.run_id).attempt == (3 if inside else 2)
    nothing_is_done_twice(scene, lost)


def _first_drive(scene: Scene) -> UUID:
    rows = scene.door.rows(
        "select workflow_uuid from dbos.workflow_status w join dbos.workflow_input i"
        " using (workflow_uuid) where i.inputs::jsonb #>> '{positionalArgs,1}' = 's1'"
        " order by w.created_at"
    )
    return UUID(rows[0].workflow_uuid)


@case(20)
def test_a_run_that_kills_every_worker_ends_when_its_budget_is_spent(scene: Scene) -> None:
    """Each attempt dies right after its claim, so none makes progress."""
    run = scene.start("s1", *TURNS)
    for name in ("first", "second"):
        dies = scene.crew.worker(name, crash=Crash(after=1), max_attempts=2, sweep_every_s=600)
        assert dies.ended() == CRASHED
        if name == "first":
            judge = scene.crew.worker("judge", max_attempts=2, crash=Crash(after=1))
            assert judge.ended() == CRASHED
            assert scene.door.run(run.run_id).attempt == 2, "it is handed over once"
    scene.crew.worker("last", max_attempts=2).ready()
    row = scene.settled(run)
    assert (row.status, row.error_detail["code"]) == ("failed", "framework_auto_resume_exhausted")
    assert row.error_detail["retryable"] is True
    assert scene.stage.notes("model") == []
    again = scene.start("s1", {"say": "It goes on."})
    assert scene.settled(again).status == "completed"
