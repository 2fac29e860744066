"""The n-th statement of a request fails, before the server heard it or after it was done.

What comes out is an answer or StoreUnavailable, whose `committed` is true; the same request once
more finds or makes exactly one effect. n is counted up until no fault is hit.
"""

import pytest

from lockgate import EntryRefused, Runtime
from tests.faults.conftest import Tries
from tests.faults.entries import ENTRIES, Entry, failed, interrupted
from tests.faults.place import Place, Request
from tests.support.nth_fault import HOW, KINDS
from tests.support.stage_agents import SCRIPTED

CONTINUE = {"mode": "continue"}
ONCE_OR_ALWAYS = pytest.mark.parametrize("lasts", [False, True], ids=["once", "always"])


@ONCE_OR_ALWAYS
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_request_has_one_effect_whichever_of_its_statements_fails(
    place: Place, until_none_is_hit: Tries, entry: Entry, how: str, lasts: bool
) -> None:
    expected = place.undisturbed(entry.name, lambda: entry.request(place))
    until_none_is_hit(
        lambda nth: place.breaks(entry.request(place), how, nth, lasts=lasts, expected=expected),
        places=1,  # a rule is one statement, and its commit
    )
    place.holds()


@pytest.fixture(scope="module")
def admitting(place: Place) -> Runtime:
    """A runtime with a hook that may refuse: its entries plan first, and commit then."""
    return place.runtime(admits=True)


@ONCE_OR_ALWAYS
@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("verb", ["start", "resume", "retry"])
def test_an_entry_that_plans_first_has_one_effect(
    place: Place, admitting: Runtime, until_none_is_hit: Tries, verb: str, how: str, lasts: bool
) -> None:
    def request() -> Request:
        session_id = place.new_session()
        if verb == "resume":
            interrupted(place.door, session_id, agent_type=SCRIPTED)
        elif verb == "retry":
            failed(place.door, session_id, agent_type=SCRIPTED)
        said = {"start": ("Hello.",), "resume": (CONTINUE,), "retry": ()}[verb]
        enter = getattr(admitting, verb)

        def ask() -> str:
            answer = place.told(enter, session_id, SCRIPTED, *said, request_key="k1")
            if isinstance(answer, str):
                return answer
            return "attached" if answer.attached else "taken"

        return Request(session_id, ask, "taken", lost="taken", again="attached")

    expected = place.undisturbed(f"planned {verb}", request)
    until_none_is_hit(
        lambda nth: place.breaks(request(), how, nth, lasts=lasts, expected=expected),
        places=2,  # the plan, and the commit
    )
    place.holds()


@ONCE_OR_ALWAYS
@pytest.mark.parametrize("how", KINDS)
def test_a_first_entry_that_the_host_fails_is_recorded_once(
    place: Place, admitting: Runtime, until_none_is_hit: Tries, how: str, lasts: bool
) -> None:
    def request() -> Request:
        session_id = f"throws-{place.new_session()}"
        place.door.create_session(session_id, agent_type=SCRIPTED)

        def ask() -> str:
            try:
                answer = place.told(admitting.start, session_id, SCRIPTED, "Hello.")
            except EntryRefused as refused:
                return str(refused.code)
            return str(answer)

        failed = "framework_hook_failed"
        return Request(session_id, ask, failed, lost=failed, again=failed)

    expected = place.undisturbed("a failure", request)
    until_none_is_hit(
        lambda nth: place.breaks(request(), how, nth, lasts=lasts, expected=expected),
        places=2,  # the plan, and the record of the failure
    )
    place.holds()
