"""A run that kills whoever drives it spends its budget; what goes on beside it completes."""

from dataclasses import dataclass, field
from typing import Any

from lockgate import RunHandle
from tests.support.crew import Member
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

MAX_ATTEMPTS = 5
# A body that is lost three times is given up, and the run goes on; a model call has no such end.
POISON = {"say": "Just one word more @die and it is said."}
HEALTHY: tuple[dict[str, Any], ...] = (
    *({"calls": [call("add", a=step, b=1)], "wait": 0.4} for step in range(8)),
    {"say": "All is well."},
)
HEALTHY_RUNS = 20
RUNS = "select * from lockgate_store.runs"


@dataclass
class Hosts:
    """Two workers that are started anew whenever one has gone."""

    scene: Scene
    members: list[Member] = field(default_factory=list)
    deaths: int = 0
    started: int = 0

    def keep(self) -> None:
        """Start whoever is missing."""
        alive = [member for member in self.members if not member.has_ended]
        self.deaths += len(self.members) - len(alive)
        while len(alive) < 2:
            self.started += 1
            alive.append(self.scene.crew.worker(f"worker-{self.started}", sweep_every_s=0.2))
        self.members = alive

    def deployed(self) -> None:
        """Replace both, one after the other, as a deploy does; neither counts as a death."""
        for member in [*self.members]:
            member.terminate()
            if member.ended() == 0:
                self.members.remove(member)
            self.keep()
            self.members[-1].ready()


@case(20)
def test_a_run_that_kills_its_worker_is_given_up_and_the_runs_beside_it_are_not(
    scene: Scene,
) -> None:
    hosts = Hosts(scene)
    hosts.keep()
    for member in hosts.members:
        member.ready()
    healthy = [scene.start(f"healthy-{n}", *HEALTHY) for n in range(HEALTHY_RUNS)]
    poison = scene.start("poison", POISON)

    def kills(count: int) -> bool:
        hosts.keep()
        return len(scene.stage.notes("model", run=poison.run_id)) >= count

    seen(lambda: kills(2), "it has killed two workers", within_s=40)
    hosts.deployed()
    seen(lambda: kills(MAX_ATTEMPTS), "it has killed five", within_s=60)

    def has_ended() -> bool:
        hosts.keep()
        return bool(scene.door.run(poison.run_id).status != "running")

    seen(has_ended, "it is given up")
    was_given_up_alone(scene, hosts, poison, healthy)


def was_given_up_alone(
    scene: Scene, hosts: Hosts, poison: RunHandle, healthy: list[RunHandle]
) -> None:
    end = scene.door.run(poison.run_id)
    detail = end.error_detail
    assert (end.status, detail["code"]) == ("failed", "framework_auto_resume_exhausted")
    assert detail["retryable"] is True
    assert detail["message"] == f"The run made no progress in {MAX_ATTEMPTS} attempts"
    assert detail["cause"]["message"] == "The worker that drove the run was lost"
    assert len(scene.stage.notes("model", run=poison.run_id)) == MAX_ATTEMPTS
    assert hosts.deaths == MAX_ATTEMPTS, "it was not killed once more, and the deploy killed none"
    for run in healthy:
        row = scene.settled(run)
        assert (row.status, row.output) == ("completed", "All is well.")
        assert row.completed_at < end.completed_at, "it has not waited for the other's backoff"
        assert scene.settlements(run.run_id) == ["completed"]
    recovered = {note["run"] for note in scene.stage.notes("after_entry", drive="recover")}
    assert len(recovered) > 1, "some of them were lost with their workers, too"
    assert scene.door.rows("select from lockgate_store.recoveries") == []
