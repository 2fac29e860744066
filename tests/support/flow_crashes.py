"""A process dies at every commit of flows at once; then somebody takes over, and all is compared.

Each row is a session of its own, which stands still at its own point. The row past a flow's last
commit is not hit: what it leaves is what every other row has to leave.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.crew import Member
from tests.support.flow_client import Client, Flow
from tests.support.points import Point, Standstill, When
from tests.support.remains import family_of, left, names_of, runs_of, told
from tests.support.scene import Scene
from tests.support.seen import WITHIN_S, seen
from tests.support.standstill import CRASHED

WHEN: tuple[When, ...] = ("before", "sent", "after")
CLIENTS_LOOK_EVERY_S = 0.05  # each look is a query or two for each of a hundred rows
ROOM = 2_000  # slots of who dies: a run that stands keeps its slot


@dataclass
class Row:
    """One session that goes through a flow: where it stands, and what was committed by then."""

    flow: Flow
    point: Point
    client: Client
    waits: Iterator[None] = field(init=False)
    is_over: bool = False
    stands: Any = None
    replies: set[tuple[str, ...]] = field(default_factory=set)
    results: set[tuple[str, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.waits = self.flow.play(self.client)

    @property
    def name(self) -> str:
        return self.client.session_id

    @property
    def where(self) -> str:
        rule = self.stands["rule"] if self.stands else "nothing"
        return f"{self.name}, {self.point.when} {rule}"

    def goes_on(self) -> None:
        """Let the client look, and do what it can."""
        if not self.is_over:
            self.is_over = next(self.waits, self) is self


def rows_of(scene: Scene, flow: Flow) -> list[Row]:
    """Make a flow's rows: each kind at each of its commits, and one past the last."""
    places = [(None, n) for n in range(1, flow.commits + 1)]
    appends = [("append_chunks", n) for n in range(1, flow.appends + 1)]
    points = [Point(n, when, rule, flow.whose) for rule, n in (*places, *appends) for when in WHEN]
    points.append(Point(flow.commits + 1, "after", None, flow.whose))
    return [
        Row(flow, point, Client(scene, f"{flow.name}.{number:02}"))
        for number, point in enumerate(points, 1)
    ]


def until(rows: Sequence[Row], scene: Scene, what: str, pid: int | None = None) -> None:
    """Let the clients of rows go on until each stands or rests in that process, or is over."""
    deadline = time.monotonic() + WITHIN_S * 3
    waiting = list(rows)
    while waiting:
        standing = {note["row"]: note for note in scene.stage.notes("stands", pid=pid)}
        for row in waiting:
            if row.stands is None:
                row.stands = standing.get(row.name)
            if row.stands is None or what == "ended":
                row.goes_on()
        waiting = [row for row in waiting if not is_at_rest(row, what)]
        late = [row.where for row in waiting]
        assert time.monotonic() < deadline, f"not {what}: {late}"
        time.sleep(CLIENTS_LOOK_EVERY_S)


def is_at_rest(row: Row, what: str) -> bool:
    if what == "ended":
        return row.is_over
    return row.is_over or row.client.rests or row.stands is not None


def crash(
    scene: Scene, rows: Sequence[Row], name: str = "dies", at: Point | None = None, **more: Any
) -> Member:
    """Have a worker drive all rows, each to where it stands, and die; read what was committed.

    at  where all of them stand, if not each at its own point
    """
    given = {"concurrency": ROOM, "sweep_every_s": 600, **more}
    for row in rows:
        row.stands = None
        row.goes_on()  # Before the worker is there: some have been driven by others first.
    points = {row.name: at or row.point for row in rows}
    worker = scene.crew.worker(name, crash=Standstill(points), **given)
    until(rows, scene, "at rest", worker.pid)
    return dead(scene, rows, worker)


def dead(scene: Scene, rows: Sequence[Row], worker: Member) -> Member:
    """Let a worker die in which all rows stand, rest or are over."""
    for row in rows:
        seen(lambda row=row: is_still(scene, row, worker.pid), f"{row.name} is home")  # type: ignore[misc]
    scene.stage.open("die")
    assert worker.ended() == CRASHED, worker.log.read_text()
    scene.stage.close("die")
    seen(lambda: is_left_alone(scene), "the dead one's statements are done")
    for row in rows:
        row.client.was_lost = True
        read_committed(scene, row)
    return worker


def is_still(scene: Scene, row: Row, pid: int) -> bool:
    """Say whether a row stands, or nothing executes for it any more; an end is seen before both."""
    stands = scene.stage.notes("stands", row=row.name, pid=pid)
    row.stands = row.stands or next(iter(stands), None)
    return bool(row.stands or row.client.rests or is_home(scene, row, pid))


def is_home(scene: Scene, row: Row, pid: int) -> bool:
    """Say whether a process has come to the end of every attempt that it made at a row's runs."""
    runs = runs_of(scene.door, family_of(scene.door, row.name))
    return not scene.door.rows(
        "select from dbos.workflow_status where workflow_uuid = any (%s)"
        " and status = 'PENDING' and executor_id like %s",
        [str(run.drive_id) for run in runs],
        f"%-{pid}-%",
    )


def is_left_alone(scene: Scene) -> bool:
    """Say whether the server has done with all that a dead process has sent."""
    return not scene.door.rows(
        "select from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid() and state <> 'idle'"
    )


def read_committed(scene: Scene, row: Row) -> None:
    """Read which replies and results are committed of a row."""
    family = family_of(scene.door, row.name)
    row.replies = replies_of(scene, family)
    for run in runs_of(scene.door, family):
        for each in scene.door.calls(run.run_id):
            if each.response is not None:
                row.results.add((str(run.run_id), "body of", f"{each.step}:{each.ordinal}"))


def replies_of(scene: Scene, family: Sequence[str]) -> set[tuple[str, ...]]:
    """Return what the model was asked for each reply: whose message, behind how many of all."""
    found: set[tuple[str, ...]] = set()
    for session_id in family:
        asked = ""
        for place, message in enumerate(scene.door.messages(session_id)):
            if message.role == "user":
                asked = str(message.run_id)
            elif message.role == "assistant":
                found.add((asked, "asked behind", str(place)))
    return found


def hold_points(scene: Scene, flow: Flow, rows: Sequence[Row], pid: int) -> None:
    """Hold that each row stood at its point, and that the last one met none."""
    *hit, last = rows
    assert last.stands is None, last.where
    counted = scene.stage.notes("commit", row=last.name, pid=pid)
    rules = [note["rule"] for note in counted if note["rule"] != "append_chunks"]
    assert len(rules) == flow.commits, rules
    assert [row.name for row in hit if row.stands is None] == []
    assert {row.stands["rule"] for row in hit} >= {*rules}


def all_is_told(scene: Scene) -> bool:
    """Say whether the hook's consumer has marked every settlement."""
    return not scene.door.rows(
        "select run_id, status from lockgate_store.settlements except"
        " select run_id, status from lockgate_store.deliveries where delivered_at is not null"
    )


def hold_left(scene: Scene, flow: Flow, rows: Sequence[Row]) -> None:
    """Hold that every row has left what the last one has, which was not hit."""
    seen(lambda: all_is_told(scene), "all settlements are delivered")
    look = told if flow.by_any_runs else left
    expected = look(scene.door, rows[-1].name)
    for row in rows[:-1]:
        found = look(scene.door, row.name)
        lost = flow.lost if flow.loses(row.stands) else ()
        names = [each for each in {*expected, *found} if not each.startswith(lost)]
        other = {what: found.get(what) for what in names if found.get(what) != expected.get(what)}
        assert other == {}, (row.where, {what: expected.get(what) for what in other})


def hold_done_once(scene: Scene, flow: Flow, rows: Sequence[Row], *dead: int) -> None:
    """Hold that nothing was done again whose outcome was committed, and all else once more."""
    done = {row.name: done_for(scene, row) for row in rows}
    whole = Counter(each.name for each in done[rows[-1].name])
    for row in rows:
        mine = done[row.name]
        again = [each for each in mine if each.pid not in dead]
        assert {each.key for each in again}.isdisjoint(row.replies | row.results), row.where
        if not flow.loses(row.stands):
            assert Counter(each.name for each in again) <= whole, row.where
            assert {each.name for each in mine} == whole.keys(), row.where


@dataclass(frozen=True)
class Done:
    """A model call or a body: by which process, its key, and what that is in every life."""

    pid: int
    key: tuple[str, ...]
    name: tuple[str, ...]


def done_for(scene: Scene, row: Row) -> list[Done]:
    """Return the model calls and the bodies of a row, whoever made them."""
    names = names_of(scene.door, row.name)
    found = []
    for note in scene.stage.lines():
        if note["what"] == "model" and note["run"] in names:
            key = (note["run"], "asked behind", str(note["messages"]))
        elif note["what"] == "tool" and note["run"] in names:
            key = (note["run"], "body of", note["dedupe"].partition(":")[2])
        else:
            continue
        found.append(Done(note["pid"], key, (names[key[0]], *key[1:])))
    return found
