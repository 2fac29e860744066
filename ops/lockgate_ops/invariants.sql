-- What holds between any two commits, one query a sentence. A query's rows are what breaks it.
-- The tests of rules, the stateful test and the drives run this file, and the doctor does too. The
-- tables of DBOS are found by the search path; a row names ids and numbers, and no content.

-- A session has at most one live run.
select r.tenant_id, r.session_id, count(*) as live_runs
  from lockgate_store.runs r
 where lockgate.is_live(r.status)
 group by r.tenant_id, r.session_id
having count(*) > 1;

-- A request key names one run.
select r.tenant_id, r.session_id, r.request_key, count(*) as runs
  from lockgate_store.runs r
 where r.request_key is not null
 group by r.tenant_id, r.session_id, r.request_key
having count(*) > 1;

-- The runs of a session are its turns, and the last one is current.
select s.tenant_id, s.session_id, s.turn_count, s.current_run_id, r.turns
  from lockgate_store.sessions s
  left join (
    select r.tenant_id, r.session_id, array_agg(r.turn order by r.turn) as turns,
           (array_agg(r.run_id order by r.turn desc))[1] as last_run_id
      from lockgate_store.runs r
     group by r.tenant_id, r.session_id
  ) r on r.tenant_id = s.tenant_id and r.session_id = s.session_id
 where coalesce(r.turns, '{}') <> array(select generate_series(1, s.turn_count))
    or s.current_run_id is distinct from r.last_run_id;

-- A session's status is that of its current run.
select s.tenant_id, s.session_id, s.status, r.status as run_status
  from lockgate_store.sessions s
  join lockgate_store.runs r on r.run_id = s.current_run_id
 where not case
     -- A store client writes the session's end before the run's.
     when s.terminal_run_id = r.run_id then s.status = s.terminal_status
     -- A store client, who always names its run, may start a run in a session that is paused.
     when r.status = 'running' then s.status = 'active'
       or s.status = 'paused' and r.start_digest is not null
     when lockgate.is_live(r.status) then s.status = 'paused'
     -- A store client gave its run up, and has started no other.
     when r.status = 'superseded' then s.status in ('active', 'paused')
     else s.status = r.status end;

-- A run's input is appended once, in one piece.
select r.tenant_id, r.session_id, r.run_id, r.drive, count(m.seq) as user_messages
  from lockgate_store.runs r
  left join lockgate_store.messages m
    on m.tenant_id = r.tenant_id and m.session_id = r.session_id and m.run_id = r.run_id
   and m.role = 'user'
 group by r.tenant_id, r.session_id, r.run_id, r.drive
having count(m.seq) <> coalesce(max(m.seq) - min(m.seq) + 1, 0)
    or r.drive = 'start' and count(m.seq) = 0
   -- A store client may start without a message; a later run may have cut the history back.
   and max(r.start_digest) is null
   and not exists (
     select from lockgate_store.runs l
      where l.tenant_id = r.tenant_id and l.session_id = r.session_id
        and l.turn > max(r.turn) and l.drive in ('resume', 'retry'));

-- Messages are numbered 1 to message_count.
select s.tenant_id, s.session_id, s.message_count, m.numbers
  from lockgate_store.sessions s
  left join (
    select m.tenant_id, m.session_id, array_agg(m.seq order by m.seq) as numbers
      from lockgate_store.messages m
     group by m.tenant_id, m.session_id
  ) m on m.tenant_id = s.tenant_id and m.session_id = s.session_id
 where coalesce(m.numbers, '{}') <> array(select generate_series(1, s.message_count));

-- A message belongs to a run that exists.
select m.tenant_id, m.session_id, m.seq, m.run_id
  from lockgate_store.messages m
  left join lockgate_store.runs r
    on r.tenant_id = m.tenant_id and r.session_id = m.session_id and r.run_id = m.run_id
 where r.run_id is null;

-- A run has a checkpoint for each committed step.
select r.tenant_id, r.session_id, r.run_id, r.step_count, c.steps
  from lockgate_store.runs r
  left join (
    select c.run_id, array_agg(c.step order by c.step) as steps
      from lockgate_store.checkpoints c
     group by c.run_id
  ) c on c.run_id = r.run_id
 where coalesce(c.steps, '{}')
         <> array(select generate_series(1, coalesce(cardinality(c.steps), 0)))
    or coalesce(cardinality(c.steps), 0) > r.step_count
    or coalesce(cardinality(c.steps), 0) < r.step_count
   -- What a later run has gone back behind is gone.
   and not exists (
     select from lockgate_store.runs l
      where l.tenant_id = r.tenant_id and l.session_id = r.session_id
        and l.turn > r.turn and l.drive in ('resume', 'retry'));

-- A call in an ended run's history has one result, which comes after it.
select r.tenant_id, r.session_id, r.run_id, call.part ->> 'toolCallId' as tool_call_id,
       count(result.seq) as results
  from lockgate_store.runs r
  join lockgate_store.messages m
    on m.tenant_id = r.tenant_id and m.session_id = r.session_id and m.run_id = r.run_id
  cross join lateral jsonb_array_elements(m.content) call(part)
  left join lateral (
    select n.seq
      from lockgate_store.messages n, jsonb_array_elements(n.content) p(part)
     where n.tenant_id = m.tenant_id and n.session_id = m.session_id and n.seq > m.seq
       and p.part ->> 'type' = 'tool_result'
       and p.part ->> 'toolCallId' = call.part ->> 'toolCallId'
  ) result on true
 where not lockgate.is_live(r.status) and call.part ->> 'type' = 'tool_call'
   -- An approved call, and the step with it, has gone over to the run that goes on.
   and not exists (
     select from lockgate_store.tool_calls c
       join lockgate_store.runs o on o.run_id = c.run_id
      where c.tenant_id = m.tenant_id and c.session_id = m.session_id
        and c.tool_call_id = call.part ->> 'toolCallId' and c.run_id <> r.run_id
        and c.status in ('pending', 'answered') and lockgate.is_live(o.status))
 group by r.tenant_id, r.session_id, r.run_id, m.seq, call.part
having count(result.seq) <> 1;

-- An open call belongs to a live run.
select c.tenant_id, c.session_id, c.run_id, c.tool_call_id, c.status
  from lockgate_store.tool_calls c
  left join lockgate_store.runs r
    on r.tenant_id = c.tenant_id and r.session_id = c.session_id and r.run_id = c.run_id
 where c.status in ('pending', 'answered') and lockgate.is_live(r.status) is not true;

-- A suspended run waits for something, or has gone on.
select r.tenant_id, r.session_id, r.run_id, r.status
  from lockgate_store.runs r
  join lockgate_store.sessions s
    on s.tenant_id = r.tenant_id and s.session_id = r.session_id and s.current_run_id = r.run_id
 where r.status in ('suspended_client_tool', 'suspended_awaiting_children')
   and s.terminal_run_id is distinct from r.run_id
   and not exists (
     select from lockgate_store.tool_calls c
      where c.tenant_id = r.tenant_id and c.session_id = r.session_id and c.run_id = r.run_id
        and c.status = 'pending')
   -- A store client suspends a run itself, whatever it waits for, and announces nothing.
   and exists (
     select from lockgate_store.stream_chunks b, unnest(b.chunks) u(chunk)
      where b.tenant_id = r.tenant_id and b.session_id = r.session_id and b.run_id = r.run_id
        and u.chunk ->> 'type' = 'run_paused');

-- A sub-agent that a suspended run waits for is a child that has not ended.
select c.tenant_id, c.session_id, c.run_id, c.tool_call_id, k.child_session_id, k.status
  from lockgate_store.tool_calls c
  join lockgate_store.runs r
    on r.tenant_id = c.tenant_id and r.session_id = c.session_id and r.run_id = c.run_id
  left join lockgate_store.children k
    on k.tenant_id = c.tenant_id and k.session_id = c.session_id
   and k.tool_call_id = c.tool_call_id
 where c.kind = 'subagent' and c.status = 'pending' and r.status <> 'running'
   and (k.child_session_id is null or k.ended_at is not null);

-- A sub-agent that has ended is known to its parent.
select k.tenant_id, k.session_id, k.child_session_id, s.status, r.status as run_status
  from lockgate_store.children k
  join lockgate_store.sessions s
    on s.tenant_id = k.tenant_id and s.session_id = k.child_session_id
  left join lockgate_store.runs r on r.run_id = s.current_run_id
 where k.mode = 'subagent' and k.location = 'local' and k.ended_at is null
   and (not lockgate.is_live(r.status) or r.run_id is null and s.status = 'failed');

-- What was used belongs to a run that exists.
select u.tenant_id, u.session_id, u.entry, u.run_id
  from lockgate_store.usage u
  left join lockgate_store.runs r
    on r.tenant_id = u.tenant_id and r.session_id = u.session_id and r.run_id = u.run_id
 where r.run_id is null;

-- A stream is active exactly while its session's current run is running.
select s.tenant_id, s.session_id, st.status, st.run_id, r.run_id as current_run_id,
       r.status as run_status
  from lockgate_store.sessions s
  left join lockgate_store.runs r on r.run_id = s.current_run_id
  full join lockgate_store.streams st
    on st.tenant_id = s.tenant_id and st.session_id = s.session_id
 where (st.status is not distinct from 'active') <> (r.status is not distinct from 'running')
    or st.run_id is distinct from r.run_id;

-- A stream and its run carry the same fence.
select st.tenant_id, st.session_id, st.run_id, st.attempt, r.attempt as run_attempt
  from lockgate_store.streams st
  join lockgate_store.runs r on r.run_id = st.run_id
 where st.attempt <> r.attempt;

-- Chunks above the floor are numbered without a gap up to the head.
select st.tenant_id, st.session_id, st.floor_sequence, st.head_sequence, b.first_sequence,
       b.last_sequence
  from lockgate_store.streams st
  left join lateral (
    select c.last_sequence - c.chunk_count + 1 as first_sequence, c.last_sequence,
           lag(c.last_sequence) over (order by c.last_sequence) as previous,
           lead(c.last_sequence) over (order by c.last_sequence) is null as is_last
      from lockgate_store.stream_chunks c
     where c.tenant_id = st.tenant_id and c.session_id = st.session_id
       and c.last_sequence > st.floor_sequence
  ) b on true
 where (b.last_sequence is null and st.head_sequence > st.floor_sequence)
    or (b.previous is null and b.first_sequence > st.floor_sequence + 1)
    or b.first_sequence <> b.previous + 1
    or (b.is_last and b.last_sequence <> st.head_sequence);

-- A run's chunks lie between its start and the next run's.
select r.tenant_id, r.session_id, r.run_id, r.start_sequence, next.start_sequence as next_start,
       c.last_sequence, c.chunk_count
  from lockgate_store.stream_chunks c
  left join lockgate_store.runs r
    on r.tenant_id = c.tenant_id and r.session_id = c.session_id and r.run_id = c.run_id
  left join lockgate_store.runs next
    on next.tenant_id = r.tenant_id and next.session_id = r.session_id and next.turn = r.turn + 1
 where r.run_id is null
    or c.last_sequence - c.chunk_count < r.start_sequence
    or c.last_sequence > next.start_sequence;

-- A run that is not running has its settlement, and a running one has none.
select r.tenant_id, r.session_id, r.run_id, r.status, s.statuses
  from lockgate_store.runs r
  left join (
    select s.run_id, array_agg(s.status) as statuses
      from lockgate_store.settlements s
     group by s.run_id
  ) s on s.run_id = r.run_id
 cross join (values ('{suspended_client_tool,suspended_awaiting_children,
        suspended_step_partial}'::text[])) k(suspended)
 where case
     when r.status = 'running' then s.statuses is not null
       -- A store client set it running again: what it had been suspended as has settled.
       and not (s.statuses <@ k.suspended and r.attempt > 1)
     -- Its own continuation ends a suspended run, which has settled by then.
     when r.status = 'superseded' and s.statuses <@ k.suspended then not exists (
       select from lockgate_store.runs n
        where n.tenant_id = r.tenant_id and n.session_id = r.session_id and n.turn = r.turn + 1
          and n.drive in ('resume', 'continue'))
     else r.status <> all (coalesce(s.statuses, '{}'))
       or not s.statuses <@ (k.suspended || r.status) end;

-- A settlement is due to each consumer, once, and nothing else is.
select coalesce(s.run_id, d.run_id) as run_id, coalesce(s.status, d.status) as status,
       coalesce(s.consumer, d.consumer) as consumer
  from (
    select s.tenant_id, s.session_id, s.run_id, s.status, c.consumer
      from lockgate_store.settlements s, lockgate_store.consumers c
  ) s
  full join lockgate_store.deliveries d
    on d.tenant_id = s.tenant_id and d.session_id = s.session_id and d.run_id = s.run_id
   and d.status = s.status and d.consumer = s.consumer
 where s.run_id is null or d.run_id is null;

-- A crash-loop budget belongs to a live run.
select b.tenant_id, b.session_id, b.run_id, b.attempts, r.status
  from lockgate_store.recoveries b
  left join lockgate_store.runs r
    on r.tenant_id = b.tenant_id and r.session_id = b.session_id and r.run_id = b.run_id
 where lockgate.is_live(r.status) is not true;

-- A drive belongs to a run, or to a life of its session that has ended.
select w.workflow_uuid, s.tenant_id, s.session_id, drive.arguments ->> 2 as run_id
  from workflow_status w
  join workflow_input i on i.workflow_uuid = w.workflow_uuid
  -- The inputs of other workflows are no JSON of ours, and often none at all.
  cross join lateral (
    select case when w.name = 'drive_run' then i.inputs::jsonb -> 'positionalArgs' end as arguments
  ) drive
  join lockgate_store.sessions s
    on s.tenant_id = drive.arguments ->> 0 and s.session_id = drive.arguments ->> 1
  left join lockgate_store.runs r
    on r.tenant_id = s.tenant_id and r.session_id = s.session_id
   and r.run_id::text = drive.arguments ->> 2 and w.workflow_uuid = drive.arguments ->> 3
  -- What a deleted session leaves behind is older than the first drive of its next life.
  join (
    select o.tenant_id, o.session_id, min(f.created_at) as began_at
      from lockgate_store.runs o
      join workflow_status f on f.workflow_uuid = o.drive_id::text
     group by o.tenant_id, o.session_id) life
    on life.tenant_id = s.tenant_id and life.session_id = s.session_id
 where w.name = 'drive_run' and r.run_id is null and w.created_at > life.began_at;

-- A running run has the workflow of its drive.
select r.tenant_id, r.session_id, r.run_id, r.drive_id
  from lockgate_store.runs r
  left join workflow_status w on w.workflow_uuid = r.drive_id::text and w.name = 'drive_run'
 where r.status = 'running' and w.workflow_uuid is null;

-- A drive is of one run.
select r.drive_id, count(*) as runs
  from lockgate_store.runs r
 group by r.drive_id
having count(*) > 1;
