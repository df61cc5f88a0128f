-- Claims these due jobs of one queue, as claim.sql does: the way round a row that the
-- server refuses to change.
--   $1 queue   $2 owner   $3 lease in seconds   $4 ids
-- Rows: the id of each that could be locked, and the job as claim.sql returns it. The rest
-- of the row is NULL when the job is as it was, because a trigger returned NULL.
-- Index: primary key.
WITH held AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($4::bigint[])
    AND queue = $1::text
    AND status IS NOT DISTINCT FROM 'pending'
    AND run_at <= pg_catalog.now()
    AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
  FOR UPDATE SKIP LOCKED),
claimed AS (
  UPDATE leasetop.jobs
  SET status = 'processing',
      locked_at = pg_catalog.now(),
      locked_by = $2::text,
      lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
      attempts = least(attempts, 2147483646) + 1,
      cancelled_by = CASE WHEN cancelled_by IS NOT NULL AND errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END,
      updated_at = pg_catalog.now()
  FROM held
  WHERE jobs.id = held.id
  RETURNING jobs.id, queue, kind, payload, status, attempts, max_attempts, run_at, locked_at, locked_by,
    lease_expires_at, coalesce(last_error, '') AS last_error, coalesce(idempotency_key, '') AS idempotency_key, created_at, updated_at,
    coalesce(cancelled_by, '') AS cancelled_by)
SELECT held.id, claimed.*
FROM held
LEFT JOIN claimed ON claimed.id = held.id
