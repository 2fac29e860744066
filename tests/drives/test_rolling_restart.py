"""A deploy: each process is replaced twice under streaming runs, and nobody notices."""

import time
from collections import Counter
from typing import Any

import pytest

import lockgate.worker
from tests.support.crew import Member
from tests.support.followers import Follower, following
from tests.support.proves import case
from tests.support.scene import Scene, call, said, visible
from tests.support.seen import seen
from tests.support.stage_agents import SCRIPTED

STEP = {"think": "One step more, word by word.", "calls": [call("add", a=1, b=2)], "wait": 4}
SAID = "It is said word by word to its end."
TURNS: tuple[dict[str, Any], ...] = (*[STEP] * 4, {"say": f"@pace:0.3 {SAID}"})
SERVERS, WORKERS, TIMES = 2, 3, 2
OPEN = (
    "select from pg_stat_activity where datname = current_database()"
    " and pid <> pg_backend_pid() and backend_type = 'client backend'"
)
COUNTED = "select n_tup_ins from pg_stat_all_tables where relname = 'recoveries'"


def leave_slowly() -> None:
    """Let a busy machine take its time to hand all over; what is left to a sweep is counted."""
    lockgate.worker.LEAST_S = 60.0


class Deploy:
    """The processes, and the addresses at which the servers can be reached by now."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.started = 0
        self.servers = [self._server() for _ in range(SERVERS)]
        self.workers = [self._worker() for _ in range(WORKERS)]
        self.addresses = [server.ready() for server in self.servers]
        for worker in self.workers:
            worker.ready()

    def replace(self) -> None:
        """Replace each process, one after the other."""
        for place in range(max(SERVERS, WORKERS)):
            left(self.workers[place])
            self.workers[place] = self._worker()
            self.workers[place].ready()
            if place < SERVERS:
                left(self.servers[place])
                self.servers[place] = self._server()
                self.addresses[place] = self.servers[place].ready()

    def _server(self) -> Member:
        self.started += 1
        return self.scene.crew.server(f"server-{self.started}", "--no-worker", lease_ms=5_000)

    def _worker(self) -> Member:
        self.started += 1
        return self.scene.crew.worker(
            f"worker-{self.started}",
            lease_ms=5_000,
            sweep_every_s=1.0,
            concurrency=300,
            prepare=leave_slowly,
        )


def left(member: Member) -> None:
    """Tell a process to leave, and wait until it has done so in order."""
    member.terminate()
    assert member.ended(within_s=90) == 0, member.log.read_text()[-2_000:]


@case(6)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.long)])
def test_a_deploy_ends_no_run_and_no_reader_misses_a_word(scene: Scene, count: int) -> None:
    deploy = Deploy(scene)
    names = [f"s{number}" for number in range(count)]
    for name in names:
        scene.door.start(name, said(*TURNS), agent_type=SCRIPTED)
    scene.wake()
    began = time.monotonic()
    with following(names, deploy.addresses) as followers:
        for _ in range(TIMES):
            deploy.replace()
        replaced_s = time.monotonic() - began
        seen(lambda: all(each.end for each in followers), "all streams have ended", within_s=300)
    print(  # noqa: T201 - the figures are read by whoever measures.
        f"{count} runs: replaced in {replaced_s:.1f} s, all ended after "
        f"{time.monotonic() - began:.1f} s; attempts a run: {attempts(scene)}; "
        f"connections a reader: {Counter(each.connections for each in followers)}"
    )
    no_run_has_noticed(scene, count)
    assert max(each.connections for each in followers) > TIMES, "readers had to come back"
    for each in followers:
        has_read_all(each)
    nothing_was_counted(scene)


def attempts(scene: Scene) -> Counter[int]:
    """Return how many attempts the runs took; the last number is that of the end."""
    rows = scene.door.rows("select attempt from lockgate_store.runs")
    return Counter(row.attempt - 1 for row in rows)


def no_run_has_noticed(scene: Scene, count: int) -> None:
    rows = scene.door.rows("select status, stop_kind, output from lockgate_store.runs")
    ends = Counter((row.status, row.stop_kind, row.output) for row in rows)
    assert ends == {("completed", None, SAID): count}
    settled = scene.door.rows("select status from lockgate_store.settlements")
    assert [row.status for row in settled] == ["completed"] * count
    assert max(attempts(scene)) > 1, "some were handed over"
    bodies = Counter(note["dedupe"] for note in scene.stage.notes("tool"))
    assert len(bodies) == count * (len(TURNS) - 1)


def has_read_all(follower: Follower) -> None:
    """Hold that a reader has each chunk once, the whole text, and the right end."""
    sequences = [each["sequence"] for each in follower.chunks]
    assert sequences == list(range(1, len(sequences) + 1)), follower.session_id
    spoken = [each["chunk"] for each in visible(follower.chunks)]
    text = "".join(chunk["delta"] for chunk in spoken if chunk["type"] == "text_delta")
    assert text == SAID, follower.session_id
    assert follower.end is not None
    assert (follower.end[0], follower.end[1]["status"]) == ("end", "completed")


def nothing_was_counted(scene: Scene) -> None:
    """Hold that no attempt was ever counted, but where a busy machine kept a call waiting.

    A row of recoveries is written for each that is counted, and deleted by the next step.
    """
    scene.crew.close()
    scene.run(scene.own.close())
    seen(lambda: not scene.door.rows(OPEN), "every backend has told its statistics")
    logs = "".join(log.read_text() for log in sorted(scene.stage.folder.glob("worker-*.log")))
    raised = [line for line in logs.splitlines() if "drive.raised" in line]
    late = [line for line in raised if "framework_store_unavailable" in line]
    swept = [line for line in logs.splitlines() if "sweep.acted" in line]
    lost = [line for line in swept if "owner_dead" in line or "closed_owner" in line]
    assert raised == late, raised
    assert [line for line in lost if "requeued" in line] == []
    assert scene.door.row(COUNTED).n_tup_ins <= len(late)
