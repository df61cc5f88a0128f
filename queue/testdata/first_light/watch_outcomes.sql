-- What became of jobs which were in processing at the last look.
--   $1 ids
-- Rows: those that still exist. Index: primary key.
SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
  lease_expires_at, updated_at
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
