create function lockgate.require(p_holds boolean, p_message text, p_detail jsonb)
  returns void
  language plpgsql immutable
as $$
-- Refuses a call that breaks its function's contract: a caller's bug, never a caller's choice.
--
-- Raises    LG002
begin
  if not coalesce(p_holds, false) then
    raise sqlstate 'LG002' using message = p_message, detail = p_detail::text;
  end if;
end;
$$;
