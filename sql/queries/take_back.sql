-- Ends somebody's claim for an operator who knows that its owner is gone: pending again in
-- its old place, the attempt returned; dead when somebody cancelled the job. The owner is
-- fenced, and a worker that lives after all looks at once and finds out. An owner of more
-- than 8192 bytes is named by that or as get.sql shows it, with its digest.
--   $1 id   $2 owner   $3 who takes it back
-- Rows: the new status and the queue; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NULL THEN 'pending' ELSE 'dead' END,
    attempts = CASE WHEN cancelled_by IS NULL THEN greatest(attempts - 1, 0) ELSE attempts END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN last_error ELSE 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) END,
    errors = leasetop.with_attempt(errors, attempts, $3::text,
      CASE WHEN cancelled_by IS NULL THEN 'taken back' ELSE 'cancelled' END, 'taken back from ' || pg_catalog.left(locked_by, 1000)),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND (locked_by = $2::text OR pg_catalog.octet_length(locked_by) > 8192 AND $2::text = pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes, sha256 ' || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(locked_by, 'UTF8')), 'hex') || ')')
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status, queue, CASE WHEN pg_catalog.pg_notification_queue_usage() <= 0.9::float8 THEN pg_catalog.pg_notify('leasetop_control', 'cancel ' || id::text)::text END
