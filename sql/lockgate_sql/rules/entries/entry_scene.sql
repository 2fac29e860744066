-- What decides an entry besides its session: the session's current run, whether it executes, what
-- it ends as if the entry is accepted and whether it has open calls; the run that holds the request
-- key; the run that has the caller's run id; and the stream's head. An entry that goes back keeps
-- only so many messages, and may bring back the state of then.
create type lockgate.entry_scene as (
  current lockgate_store.runs,
  holder lockgate_store.runs,
  twin lockgate_store.runs,
  head_sequence bigint,
  has_open_calls boolean,
  current_ends text,
  executes boolean,
  keeps_messages integer,
  restores_state jsonb
);
