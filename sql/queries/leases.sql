-- Jobs in processing, earliest expiry first, without payload and history.
--   $1 limit
-- Rows: the leases. Index: jobs_active, read whole: as many entries as there are leases.
SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
  lease_expires_at, coalesce(pg_catalog.left(last_error, 1000), ''), coalesce(fingerprint, ''), coalesce(idempotency_key, ''),
  died_at, created_at, updated_at, coalesce(cancelled_by, '')
FROM leasetop.jobs
WHERE status = 'processing'
ORDER BY lease_expires_at, id
LIMIT $1::int
