"""Many lives in a row, each from its seed, until so many entries were asked for.

  python -m tests.stateful.long_run --entries 1000000 --seed 7
  python -m tests.stateful.long_run --seed 7 --life 412

An entry is a call of start, resume, retry, create_session or commit_run_start. A life that fails is
told by its seed and number, which replay it, and by the shortest list of its moves that still does.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence

import psycopg

from lockgate_ops.exits import announce
from tests.stateful.life import live
from tests.stateful.reach import frequencies, unreached
from tests.stateful.world import Told
from tests.support.cluster import running_cluster
from tests.support.connections import Connection

MOVES_A_LIFE = 150
LIVES_A_LINE = 500
LIVES_A_TRUNCATION = 25  # One makes every plan anew, which costs a quarter of a life.
TRUNCATE = b"""
do $$
begin
  execute (
    select 'truncate ' || string_agg(c.oid::regclass::text, ', ')
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('lockgate_store', 'dbos')
       and c.relname !~ 'migrations');
end;
$$
"""
DISAGREES = (AssertionError, psycopg.DatabaseError)


class Disagreement(AssertionError):
    """A life in which rows and model part."""


def rolls_of(seed: int, life: int) -> list[str]:
    """Return the seeds of a life's moves."""
    return [f"{seed}/{life}/{move}" for move in range(1, MOVES_A_LIFE + 1)]


def run(
    connection: Connection, entries: int, seed: int, look_every: int, check_every: int
) -> Counter[str]:
    """Live so many entries, and return what was reached. Errors  Disagreement"""
    reached: Counter[str] = Counter()
    began, life = time.monotonic(), 0
    while reached["entries"] < entries:
        life += 1
        if life % LIVES_A_TRUNCATION == 0:
            connection.execute(TRUNCATE)
        try:
            live(connection, rolls_of(seed, life), reached, look_every, check_every)
        except DISAGREES as broken:
            raise Disagreement(story(connection, seed, life, broken)) from broken
        if life % LIVES_A_LINE == 0:
            took = time.monotonic() - began
            announce(f"{reached['entries']:,} entries in {life:,} lives, {took:,.0f} s")
    return reached


def story(connection: Connection, seed: int, life: int, broken: Exception) -> str:
    """Tell how a life failed: how to replay it, and the fewest moves that still fail."""
    rolls, why, told = shrunk(connection, rolls_of(seed, life))
    return "\n".join(
        [
            f"python -m tests.stateful.long_run --seed {seed} --life {life}",
            f"at first: {said(broken)}",
            f"with {len(rolls)} of its moves: {why}",
            *(f"{what} {given}" for what, given in told),
        ]
    )


def said(broken: Exception) -> str:
    """Say what went wrong; where that says nothing itself, the line that held it."""
    where = traceback.extract_tb(broken.__traceback__)[-1]
    return f"{type(broken).__name__}: {str(broken) or where.line}"


def failure(connection: Connection, rolls: Sequence[str]) -> tuple[int, str, list[Told]] | None:
    """Live a life with a look after every move; return after how many it failed, why, and how.

    The invariants are asked at its end: what only they see ends no life early.
    """
    told: list[Told] = []
    done = Counter[str]()
    try:
        live(connection, rolls, done, 1, len(rolls) + 1, told)
    except DISAGREES as broken:
        return done["moves"] + 1, said(broken), told
    return None


def shrunk(connection: Connection, rolls: Sequence[str]) -> tuple[Sequence[str], str, list[Told]]:
    """Leave out what a failing life does not need: its end, then ever smaller pieces of it."""
    failed = failure(connection, rolls)
    if failed is None:
        return rolls, "it agrees when it is lived again", []
    rolls, best, size = rolls[: failed[0]], failed, len(rolls) // 2
    while size:
        place = 0
        while place < len(rolls):
            fewer = [*rolls[:place], *rolls[place + size :]]
            again = failure(connection, fewer) if fewer else None
            if again is None:
                place += size
            else:
                rolls, best = fewer[: again[0]], again
        size //= 2
    return rolls, best[1], best[2]


def main(arguments: Sequence[str]) -> int:
    """Run as the command line says; returns 1 where rows and model part, or a label is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.stateful.long_run")
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--life", type=int, help="replay this life alone, and shrink it")
    parser.add_argument("--look-every", type=int, default=1, help="moves between two looks")
    parser.add_argument("--check-every", type=int, default=50, help="moves between two checks")
    given = parser.parse_args(arguments)
    announce(f"seed {given.seed}")
    with (
        running_cluster() as cluster,
        cluster.clone("frozen") as database,
        database.connect() as connection,
    ):
        if given.life is not None:
            _, why, told = shrunk(connection, rolls_of(given.seed, given.life))
            announce("\n".join([*(f"{what} {how}" for what, how in told), why]))
            return 1 if told else 0
        try:
            reached = run(
                connection, given.entries, given.seed, given.look_every, given.check_every
            )
        except Disagreement as parted:
            announce(str(parted))
            return 1
        missing = unreached(connection, reached)
    announce("\n".join([*frequencies(reached), f"never reached: {sorted(missing) or 'nothing'}"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
