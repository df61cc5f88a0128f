-- Puts the next job of a plan, which somebody has locked, behind the others: it changes places
-- with a later one.
--   $1 plan   $2 fencing token   $3 the position reached   $4 the later position
--   $5 lease in seconds
-- Rows: as plan_redrive.sql, one for each of the two. Index: primary keys.
WITH mine AS (
  UPDATE leasetop.redrive_plans
  SET executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::float8)
  WHERE id = $1::bigint
    AND token = $2::text
    AND reached = $3::bigint
    AND state = 'running'
  RETURNING id)
UPDATE leasetop.redrive_jobs AS r
SET job_id = CASE r.position WHEN $4::bigint
  THEN (SELECT job_id FROM leasetop.redrive_jobs WHERE plan = $1::bigint AND position = $3::bigint + 1)
  ELSE (SELECT job_id FROM leasetop.redrive_jobs WHERE plan = $1::bigint AND position = $4::bigint) END
FROM mine
WHERE r.plan = mine.id
  AND r.plan = $1::bigint
  AND r.position = ANY (ARRAY[$3::bigint + 1, $4::bigint])
  AND r.state = 'waiting'
RETURNING 0::bigint, 0::bigint
