create function lockgate.bad_checkpoint_id(p_checkpoint_id jsonb)
  returns boolean
  language sql immutable
as $$
-- Says whether a checkpoint's id is none by its form alone: a text of 1 to 256 characters.
select jsonb_typeof(p_checkpoint_id) is distinct from 'string'
    or char_length(p_checkpoint_id #>> '{}') not between 1 and 256
$$;
