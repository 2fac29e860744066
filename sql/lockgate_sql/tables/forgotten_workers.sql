-- The one row is what the boots that are forgotten had told by their last heartbeats, summed up, so
-- that the totals of all boots never go down. Written by the commit that deletes their rows; they
-- decide nothing. A boot that comes back after that is a new one, with all that it tells.
create table if not exists lockgate_store.forgotten_workers (
  is_the_one boolean primary key default true,
  takeovers bigint not null,
  recoveries bigint not null,
  exhausted bigint not null,
  fenced_writes bigint not null,
  swept_at timestamptz,
  constraint there_is_one_row check (is_the_one)
);
