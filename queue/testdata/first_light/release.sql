-- Gives a claim back unused: pending again after a delay, the attempt returned.
-- A delay of zero leaves run_at as it was, so the job keeps its place.
--   $1 id   $2 owner   $3 delay in seconds
-- Rows: the queue; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = 'pending',
    run_at = CASE WHEN $3::float8 > 0 THEN now() + make_interval(secs => $3::float8) ELSE run_at END,
    attempts = greatest(attempts - 1, 0),
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    updated_at = now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING queue
