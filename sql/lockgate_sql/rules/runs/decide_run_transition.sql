create type lockgate.update_run_status_outcome as enum (
  'invalid_request', 'not_found', 'superseded', 'unchanged', 'written');

create function lockgate.decide_run_transition(p_from text, p_landed text, p_to text)
  returns lockgate.update_run_status_outcome
  language sql stable
as $$
-- Decides the write of a run's status by lockgate.run_transitions. p_landed is the status that the
-- run's terminal commit has recorded, where there is one.
select t.verdict::lockgate.update_run_status_outcome
  from lockgate.run_transitions t
 where t.from_kind = case
         when not lockgate.is_live(p_from) then 'terminal'
         when p_landed is not null then 'landed'
         else 'live' end
   and t.target = case
         when p_to = case when lockgate.is_live(p_from) then coalesce(p_landed, p_from)
           else p_from end then 'same'
         else 'other' end
$$;
