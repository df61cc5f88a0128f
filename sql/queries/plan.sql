-- A redrive plan as it stands.
--   $1 id
-- Rows: the plan; none when there is none of this id. Index: primary key.
SELECT id, state, by_whom, state_by, why, filter, reason, canary, wait, pace, stop_at, created_at, changed_at, ended_at,
  executor, CASE WHEN executor = '' THEN 0 ELSE greatest(extract(epoch FROM pg_catalog.clock_timestamp() - executor_until), 0) END::float8,
  total, reached, redriven, skipped, undone, taken, passed, judged, canary_after, token,
  coalesce(extract(epoch FROM pg_catalog.clock_timestamp() - moved_at), 'infinity')::float8
FROM leasetop.redrive_plans
WHERE id = $1::bigint
