create function lockgate.is_live(p_status text)
  returns boolean
  language sql immutable
as $$
-- Says whether a run of this status can still execute: running or suspended.
select p_status in
  ('running', 'suspended_client_tool', 'suspended_awaiting_children', 'suspended_step_partial')
$$;
