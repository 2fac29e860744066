"""A life: a world, and one move after another, each rolled by dice of its own."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.stateful import drive_moves, entry_moves, store_moves, time_moves, wait_moves
from tests.stateful.world import Told, World
from tests.support.connections import Connection

Move = Callable[[World, Random], None]

# How often each comes; an entry is what the others are there for.
WEIGHTS: dict[Move, int] = {
    entry_moves.enters: 34,
    entry_moves.asks_again: 8,
    entry_moves.creates: 3,
    entry_moves.fails_before_its_first_run: 2,
    entry_moves.deletes: 1,
    store_moves.starts_a_run: 8,
    store_moves.ends_a_session: 1,
    store_moves.moves_a_run: 3,
    store_moves.closes_a_stream: 2,
    store_moves.ends_a_run_in_parts: 2,
    store_moves.suspends_a_run: 4,
    drive_moves.claims: 12,
    drive_moves.is_dispatched_again: 1,
    drive_moves.appends: 3,
    drive_moves.replies: 2,
    drive_moves.a_tool_answers: 1,
    drive_moves.commits_a_step: 1,
    drive_moves.does_a_whole_step: 8,
    drive_moves.finishes: 9,
    wait_moves.waits_for_others: 9,
    wait_moves.suspends: 1,
    wait_moves.begins_a_call: 1,
    wait_moves.starts_a_child: 1,
    wait_moves.somebody_answers: 8,
    wait_moves.asks_to_stop: 3,
    wait_moves.goes_on_with_a_batch: 2,
    time_moves.time_passes: 8,
    time_moves.a_workflow_changes: 3,
    time_moves.is_requeued: 3,
    time_moves.a_finding_comes_late: 1,
    time_moves.sweeps: 3,
    time_moves.a_wait_ends: 5,
    time_moves.an_end_is_completed: 1,
    time_moves.takes_settlements: 3,
    time_moves.marks_again: 1,
}
MOVES = tuple(move for move, weight in WEIGHTS.items() for _ in range(weight))


def live(
    connection: Connection,
    rolls: Sequence[str],
    reached: Counter[str],
    look_every: int,
    check_every: int,
    told: list[Told] | None = None,
) -> None:
    """Live a life whose moves are rolled by dice of these seeds.

    Each move has dice of its own, so leaving one out leaves the others theirs.
    look_every   after so many moves, the sessions they named are compared
    check_every  after so many, all of them are, and the invariants hold
    told         gets the life's story, also of one that fails
    """
    world = World(connection, reached, told)
    for number, roll in enumerate(rolls, start=1):
        dice = Random(roll)
        dice.choice(MOVES)(world, dice)
        reached["moves"] += 1
        if number % look_every == 0:
            world.compare_touched()
        if number % check_every == 0:
            world.compare_all()
    world.compare_touched()
    world.compare_all()
