create function lockgate.list_tree(
  p_tenant_id text,
  p_session_id text,
  p_acting_user_id text
)
  returns text[]
  language plpgsql stable
as $$
-- Reads a session and all below it, the deepest first; null where there is no such session, or it
-- is another user's. Who acts for a user reaches that user's sessions only: a parent's id is free
-- text, so a stranger's session may name anybody's as its parent. A session is visited once, so a
-- circle of parents ends; each level is sorted, so that two who lock what they read agree.
declare
  v_tree text[];
  v_level text[] := array(
    select s.session_id
      from lockgate_store.sessions s
     where s.tenant_id = p_tenant_id and s.session_id = p_session_id
       and (p_acting_user_id is null or s.user_id = p_acting_user_id));
begin
  while cardinality(v_level) > 0 loop
    v_tree := v_level || v_tree;
    v_level := array(
      select s.session_id
        from lockgate_store.sessions s
       where s.tenant_id = p_tenant_id and s.parent_session_id = any (v_level)
         and s.session_id <> all (v_tree)
         and (p_acting_user_id is null or s.user_id = p_acting_user_id)
       order by s.session_id);
  end loop;
  return v_tree;
end;
$$;
