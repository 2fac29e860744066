"""Where entries meet faults: a runtime behind a link that breaks, and what a session holds."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import lockgate.database
from lockgate import Runtime, StoreUnavailable
from tests.support.door import Door
from tests.support.fault_proxy import Proxy
from tests.support.invariants import violations
from tests.support.nth_fault import BOUNDS, LINK_FAULTS, How, NthFault, nth_fault
from tests.support.scene import Scene

GAVE_UP = "gave up"
TRIES = 4  # of one call, as lockgate.database says
# What a request leaves in its session, without times and without ids that are new at each try.
LEFT = """
select 'session' as what, to_jsonb(s) - '{tenant_id,session_id,current_run_id,terminal_run_id,
         created_at,updated_at,expires_at}'::text[] as found
  from lockgate_store.sessions s where s.session_id = %(session)s
union all
select 'run', to_jsonb(r) - '{tenant_id,session_id,run_id,drive_id,start_digest,request_digest,
         owner_id,claimed_at,stop_requested_at,dispatch_at,started_at,completed_at}'::text[]
  from lockgate_store.runs r where r.session_id = %(session)s
union all
select 'message', jsonb_build_array(m.seq, m.role, m.content, r.turn)
  from lockgate_store.messages m left join lockgate_store.runs r using (run_id)
 where m.session_id = %(session)s
union all
select 'stream', jsonb_build_array(st.status, st.attempt, st.head_sequence, st.committed_sequence)
  from lockgate_store.streams st where st.session_id = %(session)s
union all
select 'settlement', jsonb_build_array(r.turn, s.status)
  from lockgate_store.settlements s left join lockgate_store.runs r using (run_id)
 where s.session_id = %(session)s
union all
select 'drive', to_jsonb(w.status)
  from lockgate_store.runs r join dbos.workflow_status w on w.workflow_uuid = r.drive_id::text
 where r.session_id = %(session)s
 order by 1, 2
"""


def wait_less() -> None:
    """Make a process try a call again sooner."""
    lockgate.database.FIRST_WAIT_S = 0.001


@dataclass(frozen=True)
class Request:
    """A request that can be made again, as its caller makes it who has heard nothing.

    first  what it is told when it takes effect
    lost   what it is told when it took effect and the first answer to that was lost
    again  what its repeat is told
    """

    session_id: str
    ask: Callable[[], str]
    first: str
    lost: str
    again: str


HALF_ENDED = """
select st.session_id, st.run_id::text as expect_run_id
  from lockgate_store.streams st join lockgate_store.runs r using (run_id)
 where st.status = 'active' and r.status = 'completed'
"""


class Place:
    """One database, one link to it, and a runtime that sees it through the link."""

    def __init__(self, scene: Scene, proxy: Proxy) -> None:
        self.scene = scene
        self.proxy = proxy
        self.door: Door = scene.door
        self._numbers = itertools.count(1)
        self._opened: list[Runtime] = []
        self._undisturbed: dict[str, Any] = {}

    @cached_property
    def far(self) -> Runtime:
        """The runtime behind the link; made when asked for, since it connects while it runs."""
        return self.runtime()

    def runtime(self, **options: Any) -> Runtime:
        """Open a runtime behind the link; with options of a staged runtime."""
        made = self.scene.runtime(self.proxy.url, **options)
        made.kick = None
        self._opened.append(made)
        return made

    def new_session(self) -> str:
        """Name a session that nobody has named, and that no other name begins with."""
        return f"session-{next(self._numbers):05}"

    def told(self, call: Any, *args: Any, **given: Any) -> Any:
        """Make a call, and return its answer; that the store is not there is one."""
        try:
            return self.scene.run(call(*args, **given))
        except StoreUnavailable as gave_up:
            return f"{GAVE_UP}, committed {gave_up.committed}"

    def left(self, session_id: str) -> list[tuple[str, Any]]:
        """Return what is stored of a session, such that two equal lives are equal."""
        rows = self.door.connection.execute(LEFT.encode(), {"session": session_id})
        return [(str(what), found) for what, found in rows]

    def undisturbed(self, kind: str, arrange: Callable[[], Request]) -> Any:
        """Return what a kind of request leaves when nothing breaks; its repeat leaves it so."""
        if kind not in self._undisturbed:
            request = arrange()
            assert request.ask() == request.first
            left = self.left(request.session_id)
            assert request.ask() == request.again
            assert self.left(request.session_id) == left
            self._undisturbed[kind] = left
        return self._undisturbed[kind]

    def breaks(self, request: Request, how: How, nth: int, *, lasts: bool, expected: Any) -> bool:
        """Make a request while its n-th statement fails, then once more: it has one effect.

        Returns whether there was an n-th statement.
        """
        before = self.left(request.session_id)
        fault = self.proxy.put(nth_fault(how, nth, lasts=lasts, naming=request.session_id))
        told = request.ask()
        self.proxy.lift(fault)
        left = self.left(request.session_id)
        if fault.hits == 0:
            assert (told, left) == (request.first, expected)
        else:
            self._was_typed(request, how, fault, told)
        assert left == before or told != f"{GAVE_UP}, committed False"
        assert request.ask() == (request.first if left == before else request.again)
        assert request.ask() == request.again
        assert self.left(request.session_id) == expected
        return fault.hits > 0

    def _was_typed(self, request: Request, how: How, fault: NthFault, told: str) -> None:
        """Hold that a fault was tried again as often as it should be, and what was then told."""
        if how in BOUNDS:
            assert (fault.hits, told) == (1, f"{GAVE_UP}, committed False")
        elif fault.lasts:
            known = None if how in LINK_FAULTS else False
            assert (fault.hits, told) == (TRIES, f"{GAVE_UP}, committed {known}")
        else:
            assert (fault.hits, told) in [(1, request.first), (1, request.lost)]

    def holds(self) -> None:
        """Hold the invariants, of all that was tried here so far.

        A store client writes the parts of an end apart, and the stream's is the last.
        """
        for row in self.door.rows(HALF_ENDED):
            self.door.call("close_stream", **vars(row), status="ended")
        assert violations(self.door.connection) == []

    def close(self) -> None:
        """Close what was opened here, while the link is still there."""
        for each in self._opened:
            self.scene.run(each.close())
