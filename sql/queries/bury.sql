-- Ends a claim as poison: dead, whatever attempts are left. A job that somebody
-- cancelled is dead for that.
--   $1 id   $2 owner   $3 error text
-- Rows: the id; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = 'dead',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN $3::text ELSE 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) END,
    errors = leasetop.with_attempt(errors, attempts, locked_by,
      CASE WHEN cancelled_by IS NULL THEN 'buried' ELSE 'cancelled' END, pg_catalog.left($3::text, 2000)),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING id
