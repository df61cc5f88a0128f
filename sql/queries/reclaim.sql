-- Takes expired leases back: pending again, or dead when the attempts are used up
-- (also the jobs that article-style workers leave so for ever) or somebody cancelled it.
--   $1 limit   $2 queues, NULL for all   $3 ids to pass over: the server refused to change
--   them a moment ago   $4 these ids alone, NULL for all
-- Rows: id, queue, kind, attempts, new status, the owner who lost the lease, how many
-- seconds after expiry, and who cancelled the job, if anybody. The status is NULL when the
-- row is as it was, because a trigger returned NULL. Fewer rows than the limit:
-- nothing more is expired, or the rest is locked elsewhere. Rows locked elsewhere are
-- skipped, so any number of reapers may run. NO KEY: see heartbeat.sql. Index: jobs_active.
WITH expired AS (
  SELECT id, locked_by, lease_expires_at
  FROM leasetop.jobs
  WHERE status = 'processing' AND lease_expires_at < pg_catalog.now()
    AND ($2::text[] IS NULL OR queue = ANY ($2::text[]))
    AND id <> ALL ($3::bigint[])
    AND ($4::bigint[] IS NULL OR id = ANY ($4::bigint[]))
  ORDER BY id
  LIMIT $1::int
  FOR NO KEY UPDATE SKIP LOCKED),
reclaimed AS (
  UPDATE leasetop.jobs
  SET status = CASE WHEN cancelled_by IS NULL AND attempts < max_attempts THEN 'pending' ELSE 'dead' END,
      locked_at = NULL,
      locked_by = NULL,
      lease_expires_at = NULL,
      last_error = CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled by ' || pg_catalog.left(cancelled_by, 1000)
        WHEN attempts < max_attempts THEN last_error ELSE lost.text END,
      errors = leasetop.with_attempt(errors, attempts, pg_catalog.left(expired.locked_by, 1000), 'lost', lost.text),
      updated_at = pg_catalog.now()
  FROM expired, LATERAL (
    SELECT 'worker lost ' || CASE n WHEN 1 THEN 'once' ELSE n::text || ' times' END || ': the lease ran out without a heartbeat' AS text
    FROM (
      SELECT 1 + pg_catalog.count(*) FILTER (WHERE attempt ->> 'outcome' = 'lost') AS n
      FROM leasetop.jobs AS history, pg_catalog.jsonb_array_elements(history.errors) AS attempt
      WHERE history.id = expired.id) AS counted) AS lost
  WHERE jobs.id = expired.id
    AND jobs.status IS NOT DISTINCT FROM 'processing'
    AND jobs.locked_by = expired.locked_by
    AND jobs.lease_expires_at < pg_catalog.now()
  RETURNING jobs.id, jobs.queue, jobs.kind, jobs.attempts, jobs.status, jobs.cancelled_by)
SELECT expired.id, coalesce(queue, ''), coalesce(kind, ''), coalesce(attempts, 0), status, pg_catalog.left(expired.locked_by, 1000),
  extract(epoch FROM pg_catalog.clock_timestamp() - expired.lease_expires_at)::float8, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM expired
LEFT JOIN reclaimed ON reclaimed.id = expired.id
