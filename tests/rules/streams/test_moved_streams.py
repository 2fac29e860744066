"""lockgate.moved_streams: one question for all the streams that a process watches."""

from tests.support.door import Door


def moved(db: Door, *watched: tuple[str, int]) -> list[tuple[str, int]]:
    names, heads = [name for name, _ in watched], [head for _, head in watched]
    answer = db.call_many(
        "moved_streams", tenant_ids=[""] * len(names), session_ids=names, heads=heads
    )
    return sorted((row.session_id, row.head_sequence) for row in answer)


def test_only_what_moved_closed_or_vanished_is_named(db: Door) -> None:
    db.driven("quiet").append("a")
    db.driven("moved").append("a", "b")
    ended = db.driven("ended")
    ended.append("a")
    ended.finish()

    assert moved(db, ("quiet", 1), ("moved", 1), ("ended", 1), ("gone", 7)) == [
        ("ended", 1),
        ("gone", 0),
        ("moved", 2),
    ]
    assert moved(db) == []


def test_a_session_of_another_tenant_is_another_stream(db: Door) -> None:
    db.driven("s1").append("a")
    answer = db.call_many("moved_streams", tenant_ids=["t2"], session_ids=["s1"], heads=[0])

    assert [(row.tenant_id, row.head_sequence) for row in answer] == [("t2", 0)]
