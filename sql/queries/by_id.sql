-- Jobs of given ids, newest id first, without payload and history.
--   $1 ids
-- Rows: those that there are. Index: the primary key.
SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
  lease_expires_at, coalesce(pg_catalog.left(last_error, 1000), ''), coalesce(fingerprint, ''), coalesce(idempotency_key, ''),
  died_at, created_at, updated_at, coalesce(cancelled_by, '')
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
ORDER BY id DESC
