-- Completes one job in the usual form.
--   $1 id   $2 owner
-- Rows: its id when it was still the owner's, else none. Index: primary key.
UPDATE leasetop.jobs
SET status = 'completed',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status = 'processing'
RETURNING id
