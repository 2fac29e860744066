"""What is left of a root session and its children, such that two lives of one story are equal.

Ids that are new in each life are named by their place, and times are left out.
"""

import json
import re
from typing import Any

from tests.support.door import Door
from tests.support.scene import visible_text

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SPENT = re.compile(r'"durationMs": \d+')

QUERIES = {
    "session": """
        select jsonb_build_array(s.turn_count, s.status, s.output, s.error_detail, s.state,
               s.message_count, s.terminal_run_id = s.current_run_id, s.terminal_status) as found
          from lockgate_store.sessions s where s.session_id = %s""",
    "runs": """
        select jsonb_build_array(r.turn, r.drive, r.status, r.output, r.error_detail, r.step_count,
               r.stop_kind, r.stop_reason, r.owner_id, r.request_key) as found
          from lockgate_store.runs r where r.session_id = %s order by r.turn""",
    "history": """
        select jsonb_build_array(r.turn, m.step, m.role, m.content) as found
          from lockgate_store.messages m left join lockgate_store.runs r using (run_id)
         where m.session_id = %s order by m.seq""",
    "calls": """
        select jsonb_build_array(r.turn, c.step, c.ordinal, c.tool_name, c.kind, c.status,
               c.approved, c.response, c.begun_at is not null) as found
          from lockgate_store.tool_calls c join lockgate_store.runs r using (run_id)
         where c.session_id = %s order by r.turn, c.step, c.ordinal""",
    "stream": """
        select jsonb_build_array(st.status, r.turn, st.final - 'sequence',
               st.committed_sequence = st.head_sequence) as found
          from lockgate_store.streams st join lockgate_store.runs r using (run_id)
         where st.session_id = %s""",
    "settlements": """
        select jsonb_build_array(r.turn, s.status) as found
          from lockgate_store.settlements s join lockgate_store.runs r using (run_id)
         where s.session_id = %s order by r.turn, s.status""",
    "deliveries": """
        select jsonb_build_array(r.turn, d.status, d.consumer, d.delivered_at is not null,
               d.last_error) as found
          from lockgate_store.deliveries d join lockgate_store.runs r using (run_id)
         where d.session_id = %s order by r.turn, d.status, d.consumer""",
    "usage": """
        select jsonb_build_array(r.turn, u.step, u.source, u.kind, u.detail) as found
          from lockgate_store.usage u join lockgate_store.runs r using (run_id)
         where u.session_id = %s order by r.turn, u.step, u.source, u.kind, u.detail::text""",
    "checkpoints": """
        select jsonb_build_array(c.turn, c.step, c.message_count, c.state) as found
          from lockgate_store.checkpoints c where c.session_id = %s order by c.turn, c.step""",
    "children": """
        select jsonb_build_array(c.agent_type, c.name, c.mode, c.location, c.status, c.output,
               c.error_detail, cardinality(c.waiting_call_ids)) as found
          from lockgate_store.children c where c.session_id = %s order by c.created_at""",
}

# What does not depend on the runs that told it, from which column on.
TOLD = {"session": 1, "history": 2, "calls": 3, "usage": 2, "children": 0, "settlements": 1}


def family_of(door: Door, root: str) -> list[str]:
    """Return a root session and its children here, each behind its parent."""
    query = (
        "select c.child_session_id as name from lockgate_store.children c"
        " where c.session_id = %s and c.location = 'local' order by c.created_at"
    )
    found = [root]
    for parent in found:
        found += [row.name for row in door.rows(query, parent)]
    return found


def runs_of(door: Door, family: list[str]) -> list[Any]:
    """Return the runs of sessions, those of one together and in their order."""
    query = "select * from lockgate_store.runs where session_id = any (%s) order by turn"
    rows = door.rows(query, family)
    return [row for session_id in family for row in rows if row.session_id == session_id]


def names_of(door: Door, root: str) -> dict[str, str]:
    """Return what the ids of a root's life are called in every life."""
    family = family_of(door, root)
    names = {session_id: f"session {place}" for place, session_id in enumerate(family)}
    for run in runs_of(door, family):
        names[str(run.run_id)] = f"run {run.turn} of {names[run.session_id]}"
    return names


def left(door: Door, root: str) -> dict[str, list[str]]:
    """Return all that is left, table by table, with the text that a reader has of each run."""
    names = names_of(door, root)
    family = family_of(door, root)
    found: dict[str, list[str]] = {}
    for session_id in family:
        for what, query in QUERIES.items():
            rows = [row.found for row in door.rows(query, session_id)]
            found[f"{what} of {names[session_id]}"] = [_plain(row, names) for row in rows]
    for run in runs_of(door, family):
        text = visible_text(door, run.session_id, run.run_id)
        found[f"text of {names[str(run.run_id)]}"] = [text]
    return found


def told(door: Door, root: str) -> dict[str, list[str]]:
    """Return what is left whichever runs have told it, and in whichever of their steps.

    A child's end goes into its parent's run, if it comes before that run would wait for it, or
    begins another one.
    """
    names = names_of(door, root)
    family = family_of(door, root)
    found: dict[str, list[str]] = {}
    for session_id in family:
        for what, first in TOLD.items():
            rows = [row.found[first:] for row in door.rows(QUERIES[what], session_id)]
            rows = [row for row in rows if "suspended_awaiting_children" not in row]
            found[f"{what} of {names[session_id]}"] = [_plain(row, names) for row in rows]
    for run in runs_of(door, family):
        text = visible_text(door, run.session_id, run.run_id)
        found.setdefault(f"text of {names[run.session_id]}", []).append(text)
    return {
        what: ["".join(rows)] if what.startswith("text") else rows for what, rows in found.items()
    }


def _plain(row: Any, names: dict[str, str]) -> str:
    text = json.dumps(row)
    for own, name in names.items():
        text = text.replace(own, name)
    return SPENT.sub('"durationMs": 0', UUID.sub("an id", text))
