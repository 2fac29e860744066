create type lockgate.delete_session_outcome as enum ('again', 'not_found', 'deleted');
create type lockgate.delete_session_result as (
  outcome lockgate.delete_session_outcome, deleted_sessions integer);

create function lockgate.delete_session(
  p_session_id text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.delete_session_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Deletes a session and the tree of sessions below it with all that the store holds of them: their
-- runs, live ones too, their request keys, streams and settlements, told or not. Whose session it
-- is, the root decides. Who acts for a user deletes, of the sessions that name it as their parent,
-- that user's only; a trusted caller deletes all of them. Nothing of DBOS's is touched: a drive
-- that comes for a deleted run finds that it is over.
--
-- Locks     session rows of the whole tree, a child before its parent, then the root's parent's;
--           what names them, the stream row before its chunks
-- Writes    every table of the store that names a session
-- Outcomes  first that applies:
--   again      the tree grew between the look and the locks; nothing written: commit, then call
--              again, since a longer list of locks must be taken from its beginning
--   not_found  no such session, or another user's
--   deleted    deleted_sessions counts the root and all below it
-- Raises    LG001
declare
  v_tree text[];
  v_locked text[];
  v_session_id text;
  v_root lockgate_store.sessions;
begin
  perform lockgate.require_read_committed();
  v_tree := lockgate.list_tree(p_tenant_id, p_session_id, p_acting_user_id);
  v_locked := array(
    select s.session_id
      from lockgate_store.sessions s
     where s.tenant_id = p_tenant_id and s.session_id = any (v_tree)
     order by array_position(v_tree, s.session_id)
       for no key update);
  v_tree := lockgate.list_tree(p_tenant_id, p_session_id, p_acting_user_id);
  if not v_tree <@ v_locked then
    return ('again', 0)::lockgate.delete_session_result;
  end if;
  if v_tree is null then
    return ('not_found', 0)::lockgate.delete_session_result;
  end if;
  -- Or a consumer that registers now would be owed settlements that are gone.
  if not pg_try_advisory_xact_lock_shared(lockgate.consumers_lock()) then
    perform pg_advisory_xact_lock_shared(lockgate.consumers_lock());
  end if;
  select s.* into v_root
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  perform lockgate.tell_parent(v_root, 'failed', null, lockgate.deleted_detail());
  foreach v_session_id in array v_tree loop
    perform lockgate.erase_session(p_tenant_id, v_session_id);
  end loop;
  return ('deleted', cardinality(v_tree))::lockgate.delete_session_result;
end;
$$;
