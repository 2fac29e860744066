"""plan_keyed_entry in Python against lockgate.plan_keyed_entry: every status, each way."""

from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from lockgate import plan_keyed_entry
from lockgate.labels import LIVE_STATUSES, RUN_STATUSES
from tests.support.cluster import Cluster, LentDatabase

HOLDER, LATER = UUID(int=1), UUID(int=2)
CASES = [*product(sorted(RUN_STATUSES), ("the same", "another"), (HOLDER, LATER, None))]


@pytest.fixture(scope="module")
def database(cluster: Cluster) -> Iterator[LentDatabase]:
    """An installed database, only asked."""
    with cluster.lend("real") as lent:
        yield lent


@pytest.mark.parametrize(("status", "digest", "current"), CASES)
def test_both_answer_alike(
    database: LentDatabase, status: str, digest: str, current: UUID | None
) -> None:
    run = {"run_id": str(HOLDER), "status": status, "request_digest": "the same"}
    row = database.warm.execute(
        "select lockgate.plan_keyed_entry("
        " jsonb_populate_record(null::lockgate_store.runs, %s), %s, %s)",
        [Jsonb(run), digest, current],
    ).fetchone()
    assert row is not None
    holder = SimpleNamespace(run_id=HOLDER, status=status, request_digest="the same")
    assert plan_keyed_entry(holder, digest, current) == row[0]


def test_a_key_that_no_run_holds_plans_nothing() -> None:
    nobody = SimpleNamespace(run_id=None, status="", request_digest=None)
    assert plan_keyed_entry(None, "digest", None) is None
    assert plan_keyed_entry(nobody, "digest", HOLDER) is None


def test_the_live_statuses_are_those_of_the_rules(database: LentDatabase) -> None:
    live = {
        status
        for status in RUN_STATUSES
        if database.warm.execute("select lockgate.is_live(%s)", [status]).fetchone() == (True,)
    }
    assert live == LIVE_STATUSES
