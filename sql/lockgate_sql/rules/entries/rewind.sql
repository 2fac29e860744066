-- How far back an entry goes: the messages that stay, and the session's state as it was then; no
-- state means that the session's own stays.
create type lockgate.rewind as (message_count integer, state jsonb);
