"""lockgate.append_chunks: the hot path of one attempt, fenced and ordered by one statement."""

import pytest
from psycopg.types.json import Jsonb

from lockgate.chunks import ChunkMaker, is_too_large
from lockgate.strict_json import loads_stored
from tests.support.door import Door, texts_as_chunks
from tests.support.proves import case, proves

MIB = 2**20


@proves("append_chunks.appended")
def test_a_batch_takes_the_next_numbers_and_is_one_row(db: Door) -> None:
    drive = db.driven()
    first = drive.append("a", "b", "c")
    second = drive.append("d")
    rows = db.rows("select * from lockgate_store.stream_chunks order by last_sequence")

    assert (first.outcome, first.head_sequence, first.stop_kind) == ("appended", 3, None)
    assert second.head_sequence == 4
    assert [(r.last_sequence, r.chunk_count, r.attempt) for r in rows] == [(3, 3, 1), (4, 1, 1)]
    assert db.stream().committed_sequence == 0


@proves("append_chunks.repeated")
@case(1)
def test_a_batch_whose_answer_was_lost_is_stored_once(db: Door) -> None:
    drive = db.driven()
    drive.append("a", "b")
    with db.nothing_written():
        again = drive.append("a", "b", after=0)

    assert (again.outcome, again.head_sequence) == ("repeated", 2)
    assert drive.append("c", after=2).outcome == "appended"
    with db.nothing_written():
        assert drive.append("a", "b", after=0).outcome == "repeated"


@proves("append_chunks.fenced")
@pytest.mark.parametrize(
    ("texts", "after"),
    [(("a", "x"), 0), (("a",), 0), (("a", "b", "c"), 0), (("c",), 1), (("c",), 3), (("b",), 1)],
)
def test_another_batch_at_a_taken_place_or_past_a_gap_is_fenced(
    db: Door, texts: tuple[str, ...], after: int
) -> None:
    drive = db.driven()
    drive.append("a", "b")
    with db.nothing_written():
        answer = drive.append(*texts, after=after)

    assert (answer.outcome, answer.head_sequence) == ("fenced", None)


@proves("append_chunks.fenced")
@case(3)
def test_a_lost_attempt_cannot_even_repeat_its_own_batch(db: Door) -> None:
    lost = db.driven()
    lost.append("a")
    db.requeue(lost.run_id, "raised")
    with db.nothing_written():
        repeated, next_one = lost.append("a", after=0), lost.append("b")
    mine = db.drive(lost.run_id, worker_id="worker-2")
    with db.nothing_written():
        late = lost.append("b", after=mine.head)

    assert {answer.outcome for answer in (repeated, next_one, late)} == {"fenced"}
    assert mine.append("c").outcome == "appended"


def test_no_session_and_another_runs_stream_are_fenced(db: Door) -> None:
    drive = db.driven("s1")
    db.driven("s2")
    given = {"run_id": drive.run_id, "attempt": 1, "after": 0, "chunks": texts_as_chunks("a")}
    with db.nothing_written():
        for place in ({"session_id": "s2"}, {"session_id": "s3"}):
            assert db.call("append_chunks", **place, **given).outcome == "fenced"
        other = db.call("append_chunks", session_id="s1", tenant_id="t2", **given)

    assert other.outcome == "fenced"


@proves("append_chunks.too_large")
def test_a_chunk_over_one_mebibyte_takes_no_number(db: Door) -> None:
    drive = db.driven()
    with db.nothing_written():
        answer = drive.append("small", "x" * MIB)

    assert (answer.outcome, answer.head_sequence) == ("too_large", None)
    assert drive.append("small").head_sequence == 1


def test_a_chunk_of_less_json_is_taken_however_the_database_stores_it(db: Door) -> None:
    """A list of small numbers takes four times its text there; the drive counts the text."""
    drive = db.driven()
    chunk = ChunkMaker("s1", "support").custom(1, "points", [1] * 340_000)
    assert not is_too_large(chunk)
    given = {"session_id": "s1", "run_id": drive.run_id, "attempt": 1, "after": 0}
    size = db.row("select pg_column_size(%s::jsonb) as it", chunk).it
    answer = db.call("append_chunks", **given, chunks=[Jsonb(loads_stored(chunk))])

    assert size > MIB
    assert answer.outcome == "appended"


def test_a_batch_may_be_larger_than_any_of_its_chunks_may_be(db: Door) -> None:
    assert db.driven().append("x" * (MIB // 2), "y" * (MIB // 2), "z" * 9).outcome == "appended"


def test_an_empty_batch_asks_whether_the_attempt_still_stands(db: Door) -> None:
    drive = db.driven()
    drive.append("a")
    standing = drive.append()
    db.requeue(drive.run_id, "raised")

    assert (standing.outcome, standing.head_sequence) == ("appended", 1)
    assert drive.append().outcome == "fenced"
    assert len(db.rows("select * from lockgate_store.stream_chunks")) == 1
