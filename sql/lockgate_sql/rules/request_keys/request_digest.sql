create function lockgate.request_digest(
  p_kind text,
  p_agent_type text,
  p_message jsonb default null,
  p_state jsonb default null,
  p_mode text default null,
  p_checkpoint_id text default null
)
  returns text
  language plpgsql immutable
as $$
-- The fingerprint of an entry's input: what the caller meant, and nothing that client library or
-- server adds. Kind `execute` covers start and chat, the others are `resume` and `retry`; p_message
-- and p_state are as the caller sent them, and of the form.
--
-- The text is canonical JSON of {agentType, checkpointId, kind, message, mode, state, v}. A message
-- is the list of user messages with content parts, whatever its spelling, without their ids; an
-- absent, null or empty state is left out, and so is what an entry of that kind does not have. Held
-- by the digests kept in tests/contract.
declare
  v_message text;
begin
  if jsonb_typeof(p_message) = 'string' then
    -- The common message, written out: the general way takes ten times as long.
    v_message := '[{"content":[{"text":' || p_message::text || ',"type":"text"}],"role":"user"}]';
  elsif jsonb_typeof(p_message) = 'array' then
    v_message := lockgate.canonical_json(
      (select jsonb_agg(m.value - 'id' order by m.ordinality)
         from jsonb_array_elements(lockgate.read_message(p_message)) with ordinality m));
  end if;
  return lockgate.sha256_hex(
    '{"agentType":' || to_jsonb(p_agent_type)::text
    || coalesce(',"checkpointId":' || to_jsonb(p_checkpoint_id)::text, '')
    || ',"kind":' || to_jsonb(p_kind)::text
    || coalesce(',"message":' || v_message, '')
    || coalesce(',"mode":' || to_jsonb(p_mode)::text, '')
    || case when p_state is null or p_state in ('{}', 'null') then ''
         else ',"state":' || lockgate.canonical_json(p_state) end
    || ',"v":1}');
end;
$$;
