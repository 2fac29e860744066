create type lockgate.step_outcome as enum ('fenced', 'repeated', 'saved');

-- What a drive learns from a commit: whether it counts, where its stream is, and whether a stop
-- stands on its run. calls are the open calls of the run, as lockgate.list_calls gives them.
create type lockgate.step_result as (
  outcome lockgate.step_outcome,
  head_sequence bigint,
  stop_kind text,
  calls jsonb
);
