-- Jobs in processing of a slot's snapshot, a chunk at a time.
--   $1 queue, $2 id: of the last row before   $3 limit
-- Rows: the leases. Index: jobs_active.
SELECT queue, id, kind, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, updated_at, cancelled_by
FROM leasetop.jobs
WHERE status = 'processing' AND (queue, id) > ($1::text, $2::bigint)
ORDER BY queue, id
LIMIT $3::bigint
