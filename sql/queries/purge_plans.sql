-- Deletes one batch of the jobs of a redrive plan that ended long ago, and with the last of
-- them the plan. The jobs themselves are left alone, and so is the operator log.
--   $1 the plan looked at before   $2 age in seconds   $3 NULL: plans have no queue   $4 how many rows at most
-- One row: the plan, NULL when there is none any more, and whether it is gone. One that goes
-- on to be undone meanwhile is left, and so is one locked elsewhere. Index: primary keys.
WITH doomed AS MATERIALIZED (
  SELECT id
  FROM leasetop.redrive_plans
  WHERE id >= $1::bigint
    AND $3::text IS NULL
    AND state IN ('done', 'cancelled', 'undone')
    AND ended_at < pg_catalog.now() - pg_catalog.make_interval(secs => $2::float8)
  ORDER BY id
  LIMIT 1
  FOR UPDATE SKIP LOCKED),
emptied AS (
  DELETE FROM leasetop.redrive_jobs
  WHERE plan = (SELECT id FROM doomed)
    AND position = ANY (ARRAY(
      SELECT position FROM leasetop.redrive_jobs
      WHERE plan = (SELECT id FROM doomed)
      ORDER BY position
      LIMIT $4::int))
  RETURNING 1),
gone AS (
  DELETE FROM leasetop.redrive_plans
  WHERE id = (SELECT id FROM doomed)
    AND (SELECT pg_catalog.count(*) FROM emptied) < $4::int
  RETURNING 1)
SELECT (SELECT id::text FROM doomed), (SELECT pg_catalog.count(*) FROM gone), NULL::bigint[], NULL::bigint[]
