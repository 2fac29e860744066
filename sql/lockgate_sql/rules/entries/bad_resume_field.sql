create function lockgate.bad_resume_field(p_options jsonb, p_messages jsonb)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of a resume's options that is not of the form, or null. The options are a
-- strict union: {mode: continue}, {mode: with_message, message}, {mode: from_checkpoint,
-- checkpointId}. p_messages is what was read from the message.
declare
  v_mode text := case when jsonb_typeof(p_options) = 'object' then p_options ->> 'mode' end;
begin
  return case
    when p_options is null or jsonb_typeof(p_options) <> 'object' then 'options'
    when v_mode is null or jsonb_typeof(p_options -> 'mode') <> 'string'
      or v_mode not in ('continue', 'with_message', 'from_checkpoint') then 'options.mode'
    when p_options - case v_mode
      when 'continue' then '{mode}'
      when 'with_message' then '{mode,message}'
      else '{mode,checkpointId}' end::text[] <> '{}' then 'options'
    when v_mode = 'with_message' and p_messages is null then 'options.message'
    when v_mode = 'from_checkpoint' and lockgate.bad_checkpoint_id(p_options -> 'checkpointId')
      then 'options.checkpointId'
  end;
end;
$$;
