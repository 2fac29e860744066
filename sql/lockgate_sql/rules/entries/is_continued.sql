create function lockgate.is_continued(p_entry lockgate.entry, p_scene lockgate.entry_scene)
  returns boolean
  language sql immutable
as $$
-- Says whether an entry goes on with the suspended run that it replaces: then that run settles no
-- second time, and a stop that stands on it is honoured by the run that goes on.
select p_entry.drive in ('resume', 'continue') and p_scene.current_ends = 'superseded'
   and lockgate.is_live((p_scene.current).status) and (p_scene.current).status <> 'running'
$$;
