create function lockgate.tell_parent(
  p_session lockgate_store.sessions,
  p_status text,
  p_output jsonb,
  p_error_detail jsonb
)
  returns void
  language plpgsql volatile
as $$
-- Records with a child's parent how the child's run ended, in the commit that ends it: see
-- lockgate.write_child_end. A child that merely pauses has not ended.
--
-- Only a parent that has the child on record is locked, and such a record is made with the child,
-- under an id that nobody knew before. So what waits here for a parent is never waited for by it:
-- anyone may name anybody as its parent, and two sessions each other, but records form a tree.
--
-- Locks     the parent's session row, after the child's: a child is locked before its parent
-- Writes    see lockgate.write_child_end
declare
  v_parent lockgate_store.sessions;
begin
  if p_session.parent_session_id is null or not exists (
    select from lockgate_store.children c
     where c.tenant_id = p_session.tenant_id and c.session_id = p_session.parent_session_id
       and c.child_session_id = p_session.session_id and c.location = 'local')
  then
    return;
  end if;
  v_parent := lockgate.lock_session(
    p_session_id => p_session.parent_session_id, p_tenant_id => p_session.tenant_id);
  perform lockgate.write_child_end(c, v_parent, p_status, p_output, p_error_detail)
     from lockgate_store.children c
    where c.tenant_id = v_parent.tenant_id and c.session_id = v_parent.session_id
      and c.child_session_id = p_session.session_id
      and (c.ended_at is null or c.mode <> 'subagent');
end;
$$;
