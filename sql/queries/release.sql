-- Gives a claim back unused: pending again after a delay, the attempt returned. A
-- delay of zero leaves run_at as it was, so the job keeps its place. A job that
-- somebody cancelled ends dead.
--   $1 id   $2 owner   $3 delay in seconds
-- Rows: the new status and the queue; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NULL THEN 'pending' ELSE 'dead' END,
    run_at = CASE WHEN cancelled_by IS NULL AND $3::float8 > 0::float8 THEN pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8) ELSE run_at END,
    attempts = CASE WHEN cancelled_by IS NULL THEN greatest(attempts - 1, 0) ELSE attempts END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN last_error ELSE 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) END,
    errors = CASE WHEN cancelled_by IS NULL THEN errors
      ELSE leasetop.with_attempt(errors, attempts, locked_by, 'cancelled', '') END,
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status, queue
