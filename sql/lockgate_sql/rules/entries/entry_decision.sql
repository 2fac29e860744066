-- What was decided of an entry, and which run the answer is about.
create type lockgate.entry_decision as (
  outcome lockgate.entry_outcome,
  about lockgate_store.runs,
  cause text,
  detail jsonb
);
