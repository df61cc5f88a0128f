-- Jobs of given ids, newest id first, without payload and history.
--   $1 ids
-- Rows: those that there are. Index: the primary key.
SELECT id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''), coalesce(fingerprint, ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''),
  died_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
ORDER BY id DESC
