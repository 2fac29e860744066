-- An answer to a pending call as the rules take it: of which kind, and what the history will show.
create type lockgate.submit as (
  kind text,
  approval_id text,
  approved boolean,
  response jsonb,
  bad_field text
);

create function lockgate.read_submit(p_answer jsonb)
  returns lockgate.submit
  language plpgsql immutable
as $$
-- Reads an answer, checked, or with the first field that is not of the form. It is a strict union:
-- {kind: client-tool-result, result} or {kind: client-tool-result, error}, and {kind:
-- approval-response, approvalId, approved, reason?}. A result of null, false, 0 or "" is a result;
-- one has at most 1 MB, an error or a reason 8 kB. What is approved has no response yet: it is
-- still to be executed.
declare
  v_kind text := case when jsonb_typeof(p_answer) = 'object' then p_answer ->> 'kind' end;
  v_bad text := case
    when jsonb_typeof(p_answer) is distinct from 'object' then 'answer'
    when v_kind is null or v_kind not in ('client-tool-result', 'approval-response') then 'kind'
    when v_kind = 'client-tool-result' then case
      when p_answer - '{kind,result,error}'::text[] <> '{}' then 'answer'
      when (p_answer ? 'result') = (p_answer ? 'error') then 'result'
      when pg_column_size(p_answer -> 'result') > 1048576 then 'result'
      when p_answer ? 'error' and (jsonb_typeof(p_answer -> 'error') <> 'string'
        or octet_length(p_answer ->> 'error') > 8192) then 'error' end
    when p_answer - '{kind,approvalId,approved,reason}'::text[] <> '{}' then 'answer'
    when jsonb_typeof(p_answer -> 'approvalId') is distinct from 'string'
      or char_length(p_answer ->> 'approvalId') > 256 then 'approvalId'
    when jsonb_typeof(p_answer -> 'approved') is distinct from 'boolean' then 'approved'
    when jsonb_typeof(coalesce(p_answer -> 'reason', 'null')) not in ('string', 'null')
      or octet_length(p_answer ->> 'reason') > 8192 then 'reason'
  end;
  v_approved boolean := case when v_bad is null and v_kind = 'approval-response'
    then (p_answer ->> 'approved')::boolean end;
begin
  return (v_kind, p_answer ->> 'approvalId', v_approved, case
    when v_bad is not null or v_approved then null
    when not v_approved then jsonb_strip_nulls(jsonb_build_object(
      'success', false, 'denied', true, 'reason', p_answer ->> 'reason',
      'error', 'Denied' || coalesce(': ' || (p_answer ->> 'reason'), '')))
    when p_answer ? 'error' then jsonb_build_object('success', false, 'error', p_answer -> 'error')
    else jsonb_build_object('success', true, 'result', p_answer -> 'result')
  end, v_bad)::lockgate.submit;
end;
$$;
