-- A redrive plan as it stands.
--   $1 id
-- Rows: the plan; none when there is none of this id. Index: primary key.
SELECT id, state, pg_catalog.left(by_whom, 1000), pg_catalog.left(state_by, 1000), pg_catalog.left(why, 10000), pg_catalog.left(filter, 10000), pg_catalog.left(reason, 10000), canary, wait, pace, stop_at, created_at, changed_at, ended_at,
  pg_catalog.left(executor, 1000), CASE WHEN executor = '' OR executor_until = 'infinity' THEN 0 WHEN executor_until = '-infinity' THEN 'infinity'::float8
    ELSE greatest(extract(epoch FROM pg_catalog.clock_timestamp() - executor_until), 0)::float8 END,
  total, reached, redriven, skipped, undone, taken, passed, judged, canary_after, pg_catalog.left(token, 1000),
  CASE WHEN pg_catalog.isfinite(moved_at) THEN extract(epoch FROM pg_catalog.clock_timestamp() - moved_at)::float8 ELSE 'infinity'::float8 END
FROM leasetop.redrive_plans
WHERE id = $1::bigint
