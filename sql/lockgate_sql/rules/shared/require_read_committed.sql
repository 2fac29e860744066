create function lockgate.require_read_committed()
  returns void
  language plpgsql stable
as $$
-- Refuses another isolation level: with an older snapshot the second of two racing entries dies
-- with 40001 where READ COMMITTED answers `attached`.
--
-- Raises    LG001
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise sqlstate 'LG001' using
      message = 'Lockgate''s rules run at READ COMMITTED only',
      detail = jsonb_build_object('isolation', current_setting('transaction_isolation'))::text,
      hint = 'begin the transaction with: begin isolation level read committed';
  end if;
end;
$$;
