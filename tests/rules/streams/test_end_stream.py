"""How a stream ends with its run: a failed run's stream is failed, never ended."""

import pytest

from tests.support.door import Door


@pytest.mark.parametrize(("status", "closed"), [("completed", "ended"), ("failed", "failed")])
def test_the_end_is_committed_and_fences_the_writer(db: Door, status: str, closed: str) -> None:
    drive = db.driven()
    drive.append("a", "b")
    drive.finish(status)
    stream = db.stream()

    assert (stream.status, stream.attempt) == (closed, drive.attempt + 1)
    assert stream.committed_sequence == stream.head_sequence
    assert stream.final["status"] == status


def test_an_output_of_null_is_told_from_no_output(db: Door) -> None:
    db.driven("s1").finish(output="null")
    db.driven("s2").finish()

    assert db.stream("s1").final == {"status": "completed", "output": None}
    assert db.stream("s2").final == {"status": "completed"}
