create function lockgate.bad_plan_field(p_concurrent_entry text, p_expect jsonb)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of what an entry asks of the gate that is not of the form, or null. The
-- policies are the rows of lockgate.entry_policies.
begin
  return case
    when p_concurrent_entry is null
      or p_concurrent_entry not in ('reject', 'interrupt_previous') then 'concurrentEntry'
    when p_expect is not null and not coalesce(
      jsonb_typeof(p_expect) = 'object'
      and p_expect ?& '{currentRunId,currentRunStatus,sessionStatus}', false) then 'expect'
  end;
end;
$$;
