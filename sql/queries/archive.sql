-- Discarded jobs, newest id first, without payload and history. A dead letter died when
-- it was last updated.
--   $1 queue, NULL for all   $2 ids below this one   $3 limit
-- Rows: the page. Index: the primary key backwards.
SELECT id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''),
  coalesce(leasetop.fingerprint(last_error), ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''), updated_at, created_at, updated_at,
  coalesce(pg_catalog.left(cancelled_by, 1000), ''),
  archived_at, pg_catalog.left(archived_by, 1000), pg_catalog.left(archived_why, 10000)
FROM leasetop.jobs_archive
WHERE ($1::text IS NULL OR queue = $1::text)
  AND id < $2::bigint
ORDER BY id DESC
LIMIT $3::int
