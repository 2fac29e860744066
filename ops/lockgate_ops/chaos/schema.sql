-- What the agents of a chaos have done, each row committed by itself before anything is done.
-- `began_at` is by the process's own clock, which is the server's: both are on one machine.
-- `committed_at` is when the result, or the reply, had been committed by then; null, it had not.
create schema chaos;

create table chaos.bodies (
  id uuid primary key,
  session_id text not null,
  run_id uuid not null,
  step integer not null,
  ordinal integer not null,
  tool text not null,
  pid integer not null,
  began_at timestamptz not null,
  committed_at timestamptz
);

create table chaos.model_calls (
  id uuid primary key,
  session_id text not null,
  run_id uuid not null,
  step integer not null,
  pid integer not null,
  began_at timestamptz not null,
  committed_at timestamptz
);

create table chaos.claims (
  id uuid primary key,
  run_id uuid not null,
  drive text not null,
  pid integer not null,
  began_at timestamptz not null
);

create table chaos.hooked (
  id uuid primary key,
  delivery_id text not null
);

-- Written by a consumer in the transaction of its mark: exactly once.
create table chaos.consumed (
  delivery_id text not null
);
