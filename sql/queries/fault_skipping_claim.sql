-- The claim of one job with SKIP LOCKED in its usual form: what others hold is passed over.
--   $1 queue   $2 owner   $3 lease in seconds
-- Rows: the id of the job claimed; none when nothing is due. Index: jobs_ready.
WITH candidate AS (
  SELECT id
  FROM leasetop.jobs
  WHERE queue = $1::text
    AND status = 'pending'
    AND run_at <= pg_catalog.now()
  ORDER BY run_at, id
  LIMIT 1
  FOR UPDATE SKIP LOCKED)
UPDATE leasetop.jobs
SET status = 'processing',
    locked_at = pg_catalog.now(),
    locked_by = $2::text,
    lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
    attempts = jobs.attempts + 1,
    updated_at = pg_catalog.now()
FROM candidate
WHERE jobs.id = candidate.id
RETURNING jobs.id
