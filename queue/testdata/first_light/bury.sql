-- Ends a claim as poison: dead, whatever attempts are left.
--   $1 id   $2 owner   $3 error text   $4 outcome for the history: buried or cancelled
-- Rows: the id; none when the claim is gone. Index: primary key.
UPDATE leasetop.jobs
SET status = 'dead',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = $3::text,
    errors = leasetop.with_attempt(errors, attempts, locked_by, $4::text, left($3::text, 2000)),
    updated_at = now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING id
