"""lockgate.list_children: what a session has on record of its children."""

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.family import born, calling, end, records


def test_the_oldest_comes_first_with_how_it_stands(db: Door, clock: Clock) -> None:
    parent = calling(db, "call-a", "call-b")
    (first,) = born(parent, "call-a")
    now = clock.forward(seconds=1)
    born(parent, "call-b", mode="background", name="scout")
    end(first, output=1)

    assert [(each.name, each.mode, each.status, each.output) for each in records(db)] == [
        (None, "subagent", "completed", {"said": 1}),
        ("scout", "background", "running", None),
    ]
    assert [each.ended_at for each in records(db)] == [now, None]


def test_another_users_children_are_nobodys(db: Door) -> None:
    parent = calling(db, "call-a", user_id="ann")
    born(parent, "call-a")

    assert len(db.call_many("list_children", session_id="parent", acting_user_id="ann")) == 1
    assert db.call_many("list_children", session_id="parent", acting_user_id="eve") == []
    assert db.call_many("list_children", session_id="parent", tenant_id="t2") == []
    assert db.call_many("list_children", session_id="none") == []
