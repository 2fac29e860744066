"""The transitions of a run's status, as rows: every pair of statuses has one verdict."""

from itertools import product

from tests.support.door import Door

LIVE = (
    "running",
    "suspended_client_tool",
    "suspended_awaiting_children",
    "suspended_step_partial",
)
TERMINAL = ("completed", "failed", "interrupted", "superseded")


def test_each_kind_and_target_has_one_row(db: Door) -> None:
    rows = db.rows("select from_kind, target, verdict from lockgate.run_transitions")

    assert sorted((row.from_kind, row.target) for row in rows) == sorted(
        product(("live", "terminal"), ("same", "other"))
    )
    assert {row.verdict for row in rows} <= {"written", "unchanged", "superseded"}


def test_each_pair_of_statuses_is_decided(db: Door) -> None:
    """A live run takes every status; one that has ended stays as it ended."""
    for run_is, to in product((*LIVE, *TERMINAL), repeat=2):
        verdict = db.row("select lockgate.decide_run_transition(%s, %s) as it", run_is, to).it
        if run_is in LIVE:
            assert verdict == "written"
        else:
            assert verdict == ("unchanged" if to == run_is else "superseded")
