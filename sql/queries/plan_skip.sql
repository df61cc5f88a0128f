-- Skips the next job of a plan, which PostgreSQL would not let be redriven.
--   $1 plan   $2 fencing token   $3 the position reached   $4 why, unless a live job
--   holds its idempotency key   $5 lease in seconds
-- Rows: as plan_redrive.sql. Index: primary keys, jobs_idempotency.
WITH mine AS (
  UPDATE leasetop.redrive_plans
  SET reached = reached + 1,
      skipped = skipped + 1,
      executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::float8)
  WHERE id = $1::bigint
    AND token = $2::text
    AND reached = $3::bigint
    AND state = 'running'
  RETURNING id)
UPDATE leasetop.redrive_jobs AS r
SET state = 'skipped',
    at = pg_catalog.now(),
    reason = coalesce(
      (SELECT 'idempotency key in use by #' || live.id::text
        FROM leasetop.jobs
        JOIN leasetop.jobs AS live ON live.queue = jobs.queue AND live.idempotency_key = jobs.idempotency_key
        WHERE jobs.id = r.job_id AND live.status IN ('pending', 'processing') AND live.id <> jobs.id),
      $4::text)
FROM mine
WHERE r.plan = mine.id
  AND r.plan = $1::bigint
  AND r.position = $3::bigint + 1
RETURNING 0::bigint, 1::bigint
