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
        product(("live", "landed", "terminal"), ("same", "other"))
    )
    assert {row.verdict for row in rows} <= {"written", "unchanged", "superseded"}


def test_each_pair_of_statuses_is_decided(db: Door) -> None:
    """A live run takes every status, or the one that its terminal commit says; the rest stays."""
    for run_is, to in product((*LIVE, *TERMINAL), repeat=2):
        for landed in (None, "completed", "failed", "interrupted"):
            if run_is not in LIVE:
                expected = "unchanged" if to == run_is else "superseded"
            else:
                expected = "written" if landed in (None, to) else "superseded"
            query = "select lockgate.decide_run_transition(%s, %s, %s) as it"
            assert db.row(query, run_is, landed, to).it == expected, (run_is, landed, to)
