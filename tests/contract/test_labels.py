"""The closed sets of stored words against the checks of the tables that hold them."""

import re
from collections.abc import Iterator

import pytest

from lockgate import labels
from tests.support.cluster import Cluster, LentDatabase

CHECKS = {
    "a_role_is_known": labels.ROLES,
    "a_run_drive_is_known": labels.DRIVES,
    "a_run_status_is_known": labels.RUN_STATUSES,
    "a_session_status_is_known": labels.SESSION_STATUSES,
    "a_stream_status_is_known": labels.STREAM_STATUSES,
    "a_call_status_is_known": labels.CALL_STATUSES,
}


@pytest.fixture(scope="module")
def database(cluster: Cluster) -> Iterator[LentDatabase]:
    """An installed database, only looked at."""
    with cluster.lend("real") as lent:
        yield lent


@pytest.mark.parametrize("check", CHECKS)
def test_a_tables_words_are_the_readers(database: LentDatabase, check: str) -> None:
    row = database.warm.execute(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = %s", [check]
    ).fetchone()
    assert row is not None
    assert set(re.findall(r"'(\w+)'::text", row[0])) == CHECKS[check]
