"""What must hold when a storm has passed: each check says what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lockgate_ops.chaos.facts import Begun, Facts, Run
from lockgate_ops.chaos.forecast import POISON_MODEL
from lockgate_ops.chaos.places import Frozen

ONCE = "once"  # the tool whose body never runs twice
POISON = "poison"
MAX_BODIES = 3  # of a call whose body ends its host each time
THAWED_S = 0.5
SETTLED = frozenset({"completed", "failed", "interrupted", "superseded"})
REPLACED = "superseded_by_new_entry"
INTENDED = "model_failed"
EXHAUSTED = "framework_auto_resume_exhausted"


def all_of_them(
    facts: Facts, frozen: Sequence[Frozen], stops: Mapping[str, set[str]]
) -> Iterator[str]:
    """Say everything that is wrong with what is stored.

    stops  the runs that a stop was sent to, by its kind
    """
    yield from begun_again(facts.bodies, frozen)
    yield from begun_again(facts.model_calls, frozen)
    yield from begun_twice(facts.bodies)
    yield from begun_too_often(facts.bodies, facts.runs)
    yield from ended_otherwise(facts.runs, stops)
    yield from not_told(facts)


def begun_again(begun: Iterable[Begun], frozen: Sequence[Frozen]) -> Iterator[str]:
    """Say what was begun after its result, or its reply, had been committed."""
    for each in begun:
        # Noting may take long, so a commit alone by then says nothing: it must be the older one.
        late_s = 0.0 if each.committed_at is None else each.began_at - each.committed_at
        if late_s > 0 and not was_frozen(each, frozen):
            yield (
                f"{each.what} was begun {late_s:.3f} s after its commit, by process {each.pid}: "
                f"{each.run_id} step {each.step} ordinal {each.ordinal}"
            )


def was_frozen(each: Begun, frozen: Sequence[Frozen]) -> bool:
    """Say whether its process had just been thawed.

    A process that stands still between its last look at the clock and the first line of a body
    knows of nothing; no look of its own could close that gap.
    """
    return any(
        each.pid == one.pid and one.until <= each.began_at < one.until + THAWED_S for one in frozen
    )


def begun_twice(bodies: Iterable[Begun]) -> Iterator[str]:
    """Say which body ran more often than its tool allows."""
    for tool, most in ((ONCE, 1), (POISON, MAX_BODIES)):
        count = Counter((b.run_id, b.step, b.ordinal) for b in bodies if b.what == tool)
        for place, times in count.items():
            if times > most:
                yield f"the body of {tool} ran {times} times: {place}"


def begun_too_often(bodies: Iterable[Begun], runs: Iterable[Run]) -> Iterator[str]:
    """Say which body ran more often than its run had attempts: two drives had it at once."""
    attempts = {run.run_id: run.attempt - 1 for run in runs}  # the last number is that of the end
    count = Counter((body.run_id, body.step, body.ordinal) for body in bodies)
    for (run_id, *place), times in count.items():
        most = attempts.get(run_id, 0)
        if times > most:
            yield f"a body ran {times} times in {most} attempts: {run_id} {place}"


def ended_otherwise(runs: Iterable[Run], stops: Mapping[str, set[str]]) -> Iterator[str]:
    """Say which run has no end, or one that nobody asked for."""
    for run in runs:
        if run.status not in SETTLED:
            yield f"a run is still {run.status}: {run}"
        elif run.status == "interrupted":
            if run.run_id not in stops["interrupt"] and run.stop_reason != REPLACED:
                yield f"nobody has interrupted {run}"
        elif run.status == "failed" and not (
            run.code == INTENDED
            or (run.code == "framework_cancelled" and run.run_id in stops["abort"])
            or (run.code == EXHAUSTED and run.session_id == POISON_MODEL)
        ):
            yield f"a run has failed: {run}"


def not_told(facts: Facts) -> Iterator[str]:
    """Say which settlement was not delivered, to whom, and what was consumed twice."""
    for how, told in (
        ("marked as delivered", facts.marked),
        ("told to the hook", facts.hooked),
        ("consumed", {*facts.consumed}),
    ):
        yield from (f"the settlement {each} was not {how}" for each in facts.settled - told)
        yield from (f"{each} was {how}, and has not settled" for each in told - facts.settled)
    for delivery_id, times in Counter(facts.consumed).items():
        if times > 1:
            yield f"the settlement {delivery_id} was consumed {times} times"
