create type lockgate.list_outcome as enum ('invalid_request', 'session_not_found', 'page');
create type lockgate.list_result as (
  outcome lockgate.list_outcome,
  items jsonb,
  total integer,
  has_more boolean,
  detail jsonb
);
