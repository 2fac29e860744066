"""Who goes through a flow, and what a flow is.

A flow is a generator: it yields while it waits for somebody else, and is asked again by and by. So
it goes on behind a crash as a client does, who knows nothing of it: what it does next follows from
where it is in its own story, and where the session stands is read at each look.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

from lockgate import RunHandle
from tests.support.answers import pending, submitted
from tests.support.points import Whose
from tests.support.remains import family_of, runs_of
from tests.support.scene import Scene
from tests.support.stage_agents import SCRIPTED

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
