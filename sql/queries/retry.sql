-- Ends a claim with a retryable error: back to pending after a delay or, when its
-- attempts are used up, failed. (The article's own statement matches no row in that
-- last case and leaves the job in processing.) A job that somebody cancelled ends dead.
--   $1 id   $2 owner   $3 error text   $4 delay in seconds
-- Rows: the new status; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NOT NULL THEN 'dead' WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,
    run_at = CASE WHEN cancelled_by IS NULL AND attempts < max_attempts THEN pg_catalog.now() + pg_catalog.make_interval(secs => $4::float8) ELSE run_at END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) ELSE $3::text END,
    errors = leasetop.with_attempt(errors, attempts, locked_by,
      CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled' WHEN attempts < max_attempts THEN 'retry' ELSE 'failed' END, pg_catalog.left($3::text, 2000)),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status
