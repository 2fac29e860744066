create type lockgate.update_run_status_outcome as enum (
  'invalid_request', 'not_found', 'superseded', 'unchanged', 'written');

create function lockgate.decide_run_transition(p_from text, p_to text)
  returns lockgate.update_run_status_outcome
  language sql stable
as $$
-- Decides the write of a run's status by lockgate.run_transitions.
select t.verdict::lockgate.update_run_status_outcome
  from lockgate.run_transitions t
 where t.from_kind = case when lockgate.is_live(p_from) then 'live' else 'terminal' end
   and t.target = case when p_from = p_to then 'same' else 'other' end
$$;
