"""A rule that breaks a promise is seen by random lives, told with its seed, and told shortly."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import lockgate_sql
from tests.stateful.life import live
from tests.stateful.long_run import DISAGREES, Disagreement, failure, rolls_of, run
from tests.stateful.reach import OUT_OF_REACH, unreached
from tests.support.cluster import Cluster
from tests.support.connections import Connection

# By what goes wrong: a rule, what of its text is taken out, and what comes in its place.
BROKEN = {
    "a key's other input is attached": (
        "request_keys/plan_keyed_entry",
        "p_holder.request_digest <> p_request_digest",
        "false",
    ),
    "another run stands there, and the plan interrupts it": (
        "entries/decide_entry",
        "or v_cause = 'current_run_changed'",
        "",
    ),
    "a run that a start supersedes settles no second time": (
        "entries/is_continued",
        "p_entry.drive in ('resume', 'continue')",
        "true",
    ),
    "a stop is lost with the run that goes on": (
        "entries/begin_run",
        "if v_is_continued and v_current.stop_kind is not null",
        "if false",
    ),
    "an ended run is not fenced": (
        "runs/set_run_ended",
        "attempt = r.attempt + 1",
        "attempt = r.attempt",
    ),
    "a drive is claimed twice": (
        "steps/claim_run",
        "r.claimed_at is null",
        "r.owner_id is null",
    ),
    "a terminal commit leaves the drive its fence": (
        "runs/commit_terminal",
        "perform lockgate.fence_run(v_run);",
        "",
    ),
    "a lost attempt appends": (
        "streams/append_chunks",
        "and s.attempt = p_attempt and s.status = 'active'",
        "and s.status = 'active'",
    ),
    "a takeover forgets the terminal commit": (
        "recovery/settle_lost_run",
        "if p_session.terminal_run_id = p_run.run_id then",
        "if false then",
    ),
    "a second answer takes the place of the first": (
        "tool_calls/judge_submit",
        "p_call.status in ('answered', 'consumed')",
        "p_call.status in ('consumed')",
    ),
    "a call is answered before it is announced": (
        "tool_calls/judge_submit",
        "then 'not_pending_yet'\n",
        "and false then 'not_pending_yet'\n",
    ),
    "a step whose bodies have run is given away": (
        "tool_calls/take_over_calls",
        "bool_or(c.approved and c.response is null)",
        "bool_or(c.approved)",
    ),
    "a step is given to the next run in part": (
        "tool_calls/take_over_calls",
        "bool_and(c.status = 'answered')",
        "true",
    ),
    "the end of a child is told to nobody": (
        "children/tell_parent",
        "p_session.parent_session_id is null or",
        "true or",
    ),
    "a suspension forgets a stop": (
        "steps/suspend_run",
        "if v_run.stop_kind is not null then",
        "if false then",
    ),
    "a lease is offered before it has run out": (
        "settlement/claim_settlements",
        "d.claimed_until < v_now",
        "d.claimed_until < v_now + interval '31 s'",
    ),
}
SEED = 11
LIVES = 200  # The slowest of them is seen in about a fourth of these.


@contextmanager
def broken_rule(cluster: Cluster, what: str) -> Iterator[Connection]:
    """Lend a database of its own in which a rule goes wrong."""
    rule, right, wrong = BROKEN[what]
    text = lockgate_sql.text(f"rules/{rule}.sql")
    assert text.count(right) == 1
    function = text[text.index("create function") :].replace(right, wrong)
    with cluster.clone("frozen") as database, database.connect() as connection:
        connection.execute(
            function.replace("create function", "create or replace function").encode()
        )
        yield connection


def some_lives(connection: Connection) -> None:
    for life in range(1, LIVES + 1):
        live(connection, rolls_of(SEED, life), Counter(), look_every=5, check_every=150)


@pytest.mark.parametrize("what", BROKEN)
def test_what_goes_wrong_is_seen(cluster: Cluster, what: str) -> None:
    with broken_rule(cluster, what) as connection, pytest.raises(DISAGREES):
        some_lives(connection)


def test_a_failing_life_is_told_by_its_seed_and_its_fewest_moves(cluster: Cluster) -> None:
    with broken_rule(cluster, "a drive is claimed twice") as connection:
        with pytest.raises(Disagreement) as parted:
            run(connection, entries=20_000, seed=SEED, look_every=5, check_every=150)
        told = str(parted.value)
        replay = re.search(r"long_run --seed 11 --life (\d+)", told)
        assert replay is not None
        assert failure(connection, rolls_of(SEED, int(replay[1]))) is not None

    moves = re.search(r"with (\d+) of its moves: (.*)", told)
    assert moves is not None
    assert int(moves[1]) <= 15
    assert "not over" in moves[2]
    assert told.splitlines()[-1].startswith("claim_run {")


def test_a_life_that_agrees_has_no_failure(cluster: Cluster) -> None:
    with cluster.lend("frozen") as database:
        assert failure(database.warm, rolls_of(SEED, 1)) is None


def test_a_label_that_nobody_reached_is_named(cluster: Cluster) -> None:
    with cluster.lend("frozen") as database:
        missing = unreached(database.warm, Counter({"start.started": 1}))

    assert {"entry_outcome.resumed", "cause.request_key_taken", "step_outcome.saved"} <= missing
    assert "entry_outcome.started" not in missing
    assert not {label for label in missing if label in OUT_OF_REACH}
