-- Discarded jobs, newest id first, without payload and history. A dead letter died when
-- it was last updated.
--   $1 queue, NULL for all   $2 ids below this one   $3 limit
-- Rows: the page. Index: the primary key backwards.
SELECT id, queue, kind, status, attempts, max_attempts, run_at, coalesce(pg_catalog.left(last_error, 1000), ''),
  coalesce(leasetop.fingerprint(last_error), ''), coalesce(idempotency_key, ''), updated_at, created_at, updated_at,
  coalesce(cancelled_by, ''),
  archived_at, archived_by, archived_why
FROM leasetop.jobs_archive
WHERE ($1::text IS NULL OR queue = $1::text)
  AND id < $2::bigint
ORDER BY id DESC
LIMIT $3::int
