-- Jobs in processing of a slot's snapshot, a chunk at a time.
--   $1 queue, $2 id: of the last row before   $3 limit
-- Rows: the leases. Index: jobs_active.
SELECT queue, id, pg_catalog.left(kind, 300), attempts, max_attempts, run_at, locked_at,
  CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END, lease_expires_at, updated_at, pg_catalog.left(cancelled_by, 1000)
FROM leasetop.jobs
WHERE status = 'processing' AND (queue, id) > ($1::text, $2::bigint)
ORDER BY queue, id
LIMIT $3::bigint
