-- Empties schema lockgate: views, functions and types go, the schema stays. So an install needs to
-- own the schema only, and not CREATE on the database.
--
-- Nothing is dropped by cascade: where a view or function of yours hangs on ours, the install stops
-- here and names it, and nothing has changed.
set local client_min_messages = warning;

do $$
declare
  v_drop text;
begin
  for v_drop in
    select format('drop view lockgate.%I', c.relname)
      from pg_class c
     where c.relnamespace = 'lockgate'::regnamespace and c.relkind = 'v'
  loop
    execute v_drop;
  end loop;
  for v_drop in
    select format('drop function %s', p.oid::regprocedure)
      from pg_proc p
     where p.pronamespace = 'lockgate'::regnamespace
  loop
    execute v_drop;
  end loop;
  -- Rows before enums, since rows have enum columns.
  for v_drop in
    select format('drop type lockgate.%I', t.typname)
      from pg_type t
      left join pg_class c on c.oid = t.typrelid
     where t.typnamespace = 'lockgate'::regnamespace
       and (t.typtype = 'e' or (t.typtype = 'c' and c.relkind = 'c'))
     order by t.typtype
  loop
    execute v_drop;
  end loop;
end;
$$;
