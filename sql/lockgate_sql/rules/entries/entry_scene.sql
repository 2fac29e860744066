-- What decides an entry besides its session: the session's current run, whether it executes and
-- whether it has open calls, the run that holds the request key, the run that has the caller's run
-- id, and the stream's head.
create type lockgate.entry_scene as (
  current lockgate_store.runs,
  holder lockgate_store.runs,
  twin lockgate_store.runs,
  head_sequence bigint,
  has_open_calls boolean,
  executes boolean
);
