create type lockgate.usage_rollup_result as (rollup jsonb, identity jsonb);

create function lockgate.usage_rollup(
  p_session_id text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.usage_rollup_result
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Sums up what a session's runs have used: {tokens, tokensByModel, toolStats, subAgentStats,
-- custom}, and says whose session it is. Empty where there is none, or it is another user's. What
-- is no number counts as nothing, so one odd entry does not hide the others.
select row((
    with u as (
      select e.kind, e.detail
        from lockgate_store.usage e
       where e.tenant_id = s.tenant_id and e.session_id = s.session_id
    ), tokens as (
      select u.detail ->> 'model' as model, t.key as name, sum((t.value #>> '{}')::numeric) as count
        from u, jsonb_each(case jsonb_typeof(u.detail -> 'tokens')
               when 'object' then u.detail -> 'tokens' end) t
       where u.kind = 'tokens' and jsonb_typeof(t.value) = 'number'
       group by 1, 2
    ), tools as (
      select coalesce(u.detail ->> 'tool', 'unknown') as tool, count(*) as calls,
             count(*) filter (where u.detail -> 'success' = 'true') as successes,
             coalesce(sum((u.detail ->> 'durationMs')::numeric) filter (
               where jsonb_typeof(u.detail -> 'durationMs') = 'number'), 0) as duration
        from u
       where u.kind = 'tool'
       group by 1
    ), children as (
      select coalesce(u.detail ->> 'agentType', 'unknown') as agent_type, count(*) as calls
        from u
       where u.kind = 'subagent'
       group by 1
    ), custom as (
      select coalesce(u.detail ->> 'type', 'unknown') as type, sum(case
               when not u.detail ? 'value' then 1
               when jsonb_typeof(u.detail -> 'value') = 'number'
                 then (u.detail ->> 'value')::numeric else 0 end) as value
        from u
       where u.kind = 'custom'
       group by 1
    )
    select jsonb_build_object(
      'tokens', coalesce((select jsonb_object_agg(x.name, x.count)
        from (select t.name, sum(t.count) as count from tokens t group by 1) x), '{}'),
      'tokensByModel', coalesce((select jsonb_object_agg(coalesce(x.model, 'unknown'), x.counts)
        from (select t.model, jsonb_object_agg(t.name, t.count) as counts
                from tokens t group by 1) x), '{}'),
      'toolStats', jsonb_build_object(
        'totalCalls', (select coalesce(sum(t.calls), 0) from tools t),
        'successCount', (select coalesce(sum(t.successes), 0) from tools t),
        'failureCount', (select coalesce(sum(t.calls - t.successes), 0) from tools t),
        'totalDurationMs', (select coalesce(sum(t.duration), 0) from tools t),
        'byTool', coalesce((select jsonb_object_agg(t.tool, jsonb_build_object(
          'calls', t.calls, 'successes', t.successes, 'failures', t.calls - t.successes,
          'durationMs', t.duration)) from tools t), '{}')),
      'subAgentStats', jsonb_build_object(
        'totalCalls', (select coalesce(sum(c.calls), 0) from children c),
        'byType', coalesce((select jsonb_object_agg(c.agent_type, c.calls)
          from children c), '{}')),
      'custom', coalesce((select jsonb_object_agg(c.type, c.value) from custom c), '{}'))),
    lockgate.plan_identity(null, s))::lockgate.usage_rollup_result
  from lockgate_store.sessions s
 where s.tenant_id = p_tenant_id and s.session_id = p_session_id
   and (p_acting_user_id is null or s.user_id = p_acting_user_id)
$$;
