create function lockgate.usage_flaw(p_entry jsonb, p_session_id text)
  returns text
  language sql immutable
as $$
-- Names the first field for which an entry of usage is refused, null where there is none. What is
-- summed up must be a number, and what it is summed up by must have a name.
select case
  when jsonb_typeof(p_entry) is distinct from 'object' or pg_column_size(p_entry) > 8192
    then 'entries'
  when p_entry ? 'sessionId' and p_entry ->> 'sessionId' is distinct from p_session_id
    then 'sessionId'
  when p_entry ? 'id' and (jsonb_typeof(p_entry -> 'id') <> 'string'
    or char_length(p_entry ->> 'id') not between 1 and 256) then 'id'
  when coalesce(p_entry ->> 'runId', '00000000-0000-0000-0000-000000000000')
    !~ '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' then 'runId'
  when coalesce(p_entry ->> 'stepCount', '0') !~ '^[0-9]{1,9}$' then 'stepCount'
  when coalesce(p_entry ->> 'source', '') not in ('agent', 'tool', 'subagent') then 'source'
  when coalesce(p_entry ->> 'kind', '') not in ('tokens', 'tool', 'subagent', 'custom') then 'kind'
  when p_entry ->> 'kind' = 'tokens' and jsonb_typeof(p_entry -> 'tokens') is distinct from 'object'
    then 'tokens'
  when p_entry ->> 'kind' = 'tokens' and exists (
    select from jsonb_each(p_entry -> 'tokens') t where jsonb_typeof(t.value) <> 'number')
    then 'tokens'
  when p_entry ->> 'kind' = 'tool' and jsonb_typeof(p_entry -> 'tool') is distinct from 'string'
    then 'tool'
  when p_entry ->> 'kind' = 'subagent'
    and jsonb_typeof(p_entry -> 'agentType') is distinct from 'string' then 'agentType'
  when p_entry ->> 'kind' = 'custom' and jsonb_typeof(p_entry -> 'type') is distinct from 'string'
    then 'type'
  when coalesce(jsonb_typeof(p_entry -> 'durationMs'), 'number') <> 'number' then 'durationMs'
  when coalesce(jsonb_typeof(p_entry -> 'value'), 'number') <> 'number' then 'value'
end
$$;
