"""lockgate.usage_rollup: what a session's runs have used, summed up."""

from typing import Any

from psycopg.types.json import Jsonb

from tests.support.door import Door, tool

NOTHING = {
    "tokens": {},
    "tokensByModel": {},
    "toolStats": {
        "totalCalls": 0,
        "successCount": 0,
        "failureCount": 0,
        "totalDurationMs": 0,
        "byTool": {},
    },
    "subAgentStats": {"totalCalls": 0, "byType": {}},
    "custom": {},
}


def tokens(model: str | None, **counts: object) -> dict[str, Any]:
    entry = {"kind": "tokens", "source": "agent", "tokens": counts}
    return entry if model is None else {**entry, "model": model}


def used(name: str, success: bool, **more: object) -> dict[str, Any]:
    return {"kind": "tool", "source": "tool", "tool": name, "success": success, **more}


def counted(name: str, **more: object) -> dict[str, Any]:
    return {"kind": "custom", "source": "tool", "type": name, **more}


def rollup(db: Door, session_id: str = "s1", **more: object) -> Any:
    return db.call("usage_rollup", session_id=session_id, **more).rollup


def test_a_session_that_used_nothing_has_an_empty_sum_and_no_session_none(db: Door) -> None:
    db.create_session(user_id="ann")

    assert rollup(db) == NOTHING
    assert rollup(db, acting_user_id="ann") == NOTHING
    assert rollup(db, acting_user_id="bob") is None
    assert rollup(db, "s9") is None
    assert rollup(db, tenant_id="other") is None


def test_tokens_are_summed_up_and_told_apart_by_model(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool(), usage=Jsonb([tokens("a", prompt=3, completion=4, total=7)]))
    drive.result(1, 1, closes_step=True, usage=Jsonb([tokens(None, prompt=1)]))
    drive.reply(2, "done", usage=Jsonb([tokens("a", prompt=10), tokens("b", cached=2)]))

    assert rollup(db)["tokens"] == {"prompt": 14, "completion": 4, "total": 7, "cached": 2}
    assert rollup(db)["tokensByModel"] == {
        "a": {"prompt": 13, "completion": 4, "total": 7},
        "b": {"cached": 2},
        "unknown": {"prompt": 1},
    }


def test_tools_sub_agents_and_what_else_was_counted(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("a"), tool("b"), tool("c"))
    drive.result(1, 1, usage=Jsonb([used("look", True, durationMs=5), counted("pages", value=2)]))
    drive.result(1, 2, usage=Jsonb([used("look", False, durationMs=7), counted("pages")]))
    helped = {"kind": "subagent", "source": "subagent", "agentType": "helper"}
    drive.result(1, 3, usage=Jsonb([used("send", True), helped, helped, counted("pages", value=0)]))

    assert rollup(db)["toolStats"] == {
        "totalCalls": 3,
        "successCount": 2,
        "failureCount": 1,
        "totalDurationMs": 12,
        "byTool": {
            "look": {"calls": 2, "successes": 1, "failures": 1, "durationMs": 12},
            "send": {"calls": 1, "successes": 1, "failures": 0, "durationMs": 0},
        },
    }
    assert rollup(db)["subAgentStats"] == {"totalCalls": 2, "byType": {"helper": 2}}
    assert rollup(db)["custom"] == {"pages": 3}


def test_all_runs_of_a_session_count_and_no_other_sessions(db: Door) -> None:
    for session_id, prompt in (("s1", 1), ("s1", 2), ("s2", 40)):
        drive = db.driven(session_id)
        drive.reply(1, "hello", usage=Jsonb([tokens("m", prompt=prompt)]))
        drive.finish()
    other = db.driven(tenant_id="other")
    other.reply(1, "hello", usage=Jsonb([tokens("m", prompt=500)]))

    assert rollup(db)["tokens"] == {"prompt": 3}
    assert rollup(db, "s2")["tokens"] == {"prompt": 40}
    assert rollup(db, tenant_id="other")["tokens"] == {"prompt": 500}


def test_a_sum_is_exact(db: Door) -> None:
    drive = db.driven()
    entries = [counted("cost", value=0.1), counted("cost", value=0.2)]
    drive.reply(1, "hello", usage=Jsonb(entries))

    assert (
        db.row("select rollup #>> '{custom,cost}' as cost from lockgate.usage_rollup('s1')").cost
        == "0.3"
    )
