"""A session as its rows have it and as the model has it, in one shape: one look, one round trip."""

from typing import Any

from tests.stateful.facts import Name, Run, Session, State
from tests.support.connections import Connection

Seen = dict[str, Any]

# Lists of lists, as both sides can write them. The drives are for whoever claims a run.
LOOK = b"""
select json_build_object(
  'session', json_build_array(s.agent_type, s.user_id, s.tags, s.parent_session_id, s.status,
    s.root_session_id, s.turn_count, s.message_count, s.first_run_due, s.end_due, s.terminal_run_id,
    s.terminal_status, s.output),
  'state', s.state,
  'stream', (
    select json_build_array(t.status, t.run_id, t.attempt, t.head_sequence, t.committed_sequence)
      from lockgate_store.streams t
     where t.tenant_id = s.tenant_id and t.session_id = s.session_id),
  'runs', (
    select json_agg(json_build_array(r.run_id, r.turn, r.drive, r.request_key, r.start_sequence,
             r.status, r.attempt, r.owner_id, r.step_count, r.stop_kind,
             r.completed_at is not null, coalesce(v.attempts, 0),
             coalesce(v.deaths, 0), r.output) order by r.turn)
      from lockgate_store.runs r
      left join lockgate_store.recoveries v
        on v.tenant_id = r.tenant_id and v.session_id = r.session_id and v.run_id = r.run_id
     where r.tenant_id = s.tenant_id and r.session_id = s.session_id),
  'messages', (
    select json_agg(json_build_array(r.turn, m.role, jsonb_array_length(m.content)) order by m.seq)
      from lockgate_store.messages m
      join lockgate_store.runs r on r.run_id = m.run_id
     where m.tenant_id = s.tenant_id and m.session_id = s.session_id),
  'checkpoints', (
    select json_agg(json_build_array(c.run_id || ':' || c.step, c.message_count, c.state)
             order by c.turn, c.step)
      from lockgate_store.checkpoints c
     where c.tenant_id = s.tenant_id and c.session_id = s.session_id),
  'calls', (
    select json_agg(json_build_array(c.run_id, c.status, c.kind, c.begun_at is not null)
             order by c.ordinal)
      from lockgate_store.tool_calls c
     where c.tenant_id = s.tenant_id and c.session_id = s.session_id
       and c.status in ('pending', 'answered')),
  'asked', (
    select json_object_agg(c.tool_call_id,
             json_build_array(c.run_id, c.status, c.response is not null, c.approved))
      from lockgate_store.tool_calls c
     where c.tenant_id = s.tenant_id and c.session_id = s.session_id and c.kind <> 'server'),
  'children', (
    select json_object_agg(k.child_session_id,
             json_build_array(k.tool_call_id, k.name, k.status, k.ended_at is not null))
      from lockgate_store.children k
     where k.tenant_id = s.tenant_id and k.session_id = s.session_id),
  'settled', (
    select json_agg(d.run_id || ':' || d.status order by d.run_id::text collate "C", d.status)
      from lockgate_store.settlements d
     where d.tenant_id = s.tenant_id and d.session_id = s.session_id),
  'deliveries', (
    select json_agg(json_build_array(d.run_id || ':' || d.status, d.consumer, d.tries,
             d.delivered_at is not null)
             order by d.run_id::text collate "C", d.status collate "C", d.consumer)
      from lockgate_store.deliveries d
     where d.tenant_id = s.tenant_id and d.session_id = s.session_id),
  'drives', (
    select json_object_agg(r.run_id, r.drive_id)
      from lockgate_store.runs r
     where r.tenant_id = s.tenant_id and r.session_id = s.session_id))
  from lockgate_store.sessions s
 where s.tenant_id = %s and s.session_id = %s
"""


def look(connection: Connection, name: Name) -> Seen | None:
    """Read all that is compared of a session, and its drives; none where there is no session."""
    row = connection.execute(LOOK, name, prepare=True).fetchone()
    if row is None:
        return None
    seen: Seen = row[0]
    state: State = {}
    for checkpoint in seen["checkpoints"] or []:  # Its state is kept only where it is another one.
        state = checkpoint[2] = state if checkpoint[2] is None else checkpoint[2]
    return seen


def drawn(session: Session) -> Seen:
    """Write a session of the model as `look` reads its rows, but for the drives."""
    current = session.current
    run_id, status = session.terminal or (None, None)
    open_calls = current.calls if current else []
    return {
        "session": [
            session.agent,
            session.user,
            list(session.tags),
            session.parent,
            session.status,
            session.root,
            len(session.runs),
            len(session.messages),
            session.first_run_due,
            session.end_due,
            run_id and str(run_id),
            status,
            session.output,
        ],
        "state": session.state,
        "stream": current
        and [
            session.stream,
            str(current.run_id),
            current.attempt,
            session.head,
            session.committed,
        ],
        "runs": [_drawn(run) for run in session.runs] or None,
        "messages": [list(message[:3]) for message in session.messages] or None,
        "checkpoints": [[c.checkpoint_id, c.keeps, c.state] for c in session.checkpoints] or None,
        "calls": [[str(c.run.run_id), c.status, c.kind, c.has_begun] for c in open_calls] or None,
        "asked": {
            call_id: [str(c.run.run_id), c.status, c.has_response, c.approved]
            for call_id, c in session.asked.items()
        }
        or None,
        "children": {
            child_id: [child.call_id, child.name, child.status, child.has_ended]
            for child_id, child in session.children.items()
        }
        or None,
        "settled": sorted(f"{run}:{status}" for run, status in session.settled) or None,
        "deliveries": [
            [f"{run}:{status}", consumer, delivery.tries, delivery.is_marked]
            for (run, status, consumer), delivery in sorted(
                session.deliveries.items(), key=lambda item: tuple(map(str, item[0]))
            )
        ]
        or None,
    }


def _drawn(run: Run) -> list[Any]:
    return [
        str(run.run_id),
        run.turn,
        run.drive,
        run.key,
        run.start_sequence,
        run.status,
        run.attempt,
        run.owner,
        run.steps,
        run.stop,
        not run.is_live,
        run.spent,
        run.deaths,
        run.output,
    ]
