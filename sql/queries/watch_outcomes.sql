-- What became of jobs which were in processing at the last look.
--   $1 ids
-- Rows: those that still exist. Index: primary key.
SELECT id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
