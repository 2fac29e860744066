"""What is said of a storm when it has passed: its figures, and what it has found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lockgate_ops.chaos.facts import Claim, Facts
from lockgate_ops.chaos.storm import Storm
from lockgate_ops.chaos.troubles import Bereaved, Troubles
from lockgate_ops.chaos.watch import Watch

MOST = 30  # of what was found; the seed and the logs have the rest


def figures(
    storm: Storm, troubles: Troubles, facts: Facts, watches: Iterable[Watch]
) -> dict[str, Any]:
    """Count what has happened."""
    return {
        "seed": storm.forecast.seed,
        "entries": _sorted(storm.ledger.count),
        "tales": _sorted(storm.sent.tales),
        "answers": _sorted(storm.sent.answers),
        "reads": _sorted(storm.reads),
        "runs": _sorted(Counter(f"{run.drive} {run.status}" for run in facts.runs)),
        "troubles": _sorted(troubles.count),
        "workers ended by poison": storm.history.by_own,
        "processes started": storm.history.started,
        "takeovers": sum(claim.drive == "recover" for claim in facts.claims),
        "longest time from a kill to the next claim, s": longest_wait_s(
            troubles.bereaved, facts.claims
        ),
        "longest time without any worker, s": round(storm.history.longest_alone_s, 1),
        "model calls": len(facts.model_calls),
        "bodies": len(facts.bodies),
        "bodies begun a second time": len(facts.bodies)
        - len({(b.run_id, b.step, b.ordinal) for b in facts.bodies}),
        "settlements": len(facts.settled),
        "chunks read": sum(len(reader.chunks) for reader in storm.readers),
        "cuts of readers": sum(reader.cuts for reader in storm.readers),
        "looks": {watch.name: watch.looks for watch in watches},
        "slowest look, s": round(max(watch.slowest_s for watch in watches), 2),
    }


def longest_wait_s(bereaved: Iterable[Bereaved], claims: Iterable[Claim]) -> float:
    """Return how long a killed worker's run had to wait for another one, at most.

    The wait of the budget is in it. A run that a stop ended, or another entry, waits for nobody.
    """
    by_run: dict[str, list[float]] = {}
    for claim in claims:
        by_run.setdefault(claim.run_id, []).append(claim.began_at)
    waits = [
        min(after) - loss.at
        for loss in bereaved
        for run_id in loss.runs
        if (after := [at for at in by_run.get(str(run_id), []) if at > loss.at])
    ]
    return round(max(waits, default=0.0), 1)


def lines(told: Mapping[str, Any]) -> list[str]:
    """Write figures, one a line."""
    written = []
    for title, value in told.items():
        if isinstance(value, Mapping):
            written += [f"  {title}:", *(f"    {n:6} {what}" for what, n in value.items())]
        else:
            written.append(f"  {title}: {value}")
    return written


def _sorted(count: Counter[str]) -> dict[str, int]:
    return dict(sorted(count.items()))
