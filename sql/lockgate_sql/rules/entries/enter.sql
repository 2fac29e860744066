create function lockgate.enter(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- The gate. Every entry verb ends here: look ahead, lock, read, decide, write, answer.
--
-- Locks     session row, run rows, stream row, tool-call rows; DBOS's rows last
-- Writes    see lockgate.begin_run; `interrupting` records a stop on the executing run
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001; LG003 when the session row comes and goes under our eyes for ever
declare
  v_entry lockgate.entry := p_entry;
  v_answer lockgate.entry_result;
begin
  if v_entry.bad_field is not null then
    return lockgate.entry_answer(v_entry, 'invalid_request',
      p_detail => jsonb_build_object('field', v_entry.bad_field));
  end if;
  v_entry.run_id := coalesce(v_entry.run_id, gen_random_uuid());
  v_entry.start_digest := lockgate.start_digest(v_entry);

  v_answer := lockgate.look_ahead(v_entry);
  if v_answer.outcome is not null then
    return v_answer;
  end if;

  for v_try in 1..5 loop
    v_answer := lockgate.enter_locked(v_entry);
    if v_answer.outcome is not null then
      return v_answer;
    end if;
  end loop;
  raise sqlstate 'LG003' using message = 'the session is created and deleted without end';
end;
$$;
