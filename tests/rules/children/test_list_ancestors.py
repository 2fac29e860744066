"""lockgate.list_ancestors: whom a child descends from."""

from typing import Any

from tests.support.door import Door, tool
from tests.support.family import born, calling, session_of


def ancestors(db: Door, session_id: str, **more: Any) -> list[tuple[str, str]]:
    found = db.call_many("list_ancestors", session_id=session_id, **more)
    return [(each.session_id, each.agent_type) for each in found]


def test_the_root_comes_first(db: Door) -> None:
    (child,) = born(calling(db, "call-a"), "call-a")
    child.reply(1, "", {**tool("call-b"), "kind": "subagent"})
    (grandchild,) = born(child, "call-b")

    assert ancestors(db, session_of(grandchild)) == [
        ("parent", "support"),
        (session_of(child), "helper"),
    ]
    assert ancestors(db, session_of(child)) == [("parent", "support")]
    assert ancestors(db, "parent") == []


def test_whoever_only_names_a_parent_does_not_descend_from_it(db: Door) -> None:
    db.create_session("parent")
    db.create_session("stranger", parent_session_id="parent")
    assert ancestors(db, "stranger") == []


def test_another_tenants_family_is_not_seen(db: Door) -> None:
    (child,) = born(calling(db, "call-a"), "call-a")
    assert ancestors(db, session_of(child), tenant_id="t2") == []
