-- Ends somebody's claim for an operator who knows that its owner is gone: pending again in
-- its old place, the attempt returned; dead when somebody cancelled the job. The owner is
-- fenced, and a worker that lives after all looks at once and finds out.
--   $1 id   $2 owner   $3 who takes it back
-- Rows: the new status and the queue; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NULL THEN 'pending' ELSE 'dead' END,
    attempts = CASE WHEN cancelled_by IS NULL THEN greatest(attempts - 1, 0) ELSE attempts END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN last_error ELSE 'cancelled by ' || cancelled_by END,
    errors = leasetop.with_attempt(errors, attempts, $3::text,
      CASE WHEN cancelled_by IS NULL THEN 'taken back' ELSE 'cancelled' END, 'taken back from ' || locked_by),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status, queue, CASE WHEN pg_catalog.pg_notification_queue_usage() <= 0.9::float8 THEN pg_catalog.pg_notify('leasetop_control', 'cancel ' || id::text)::text END
