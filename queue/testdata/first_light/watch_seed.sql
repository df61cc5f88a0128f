-- What the stream's reader must know before the first change comes: the jobs in
-- processing, then the dead letters. Run in the snapshot of the replication slot.
--   $1 limit
-- Rows: as many as there are, up to the limit. Indexes: jobs_active, jobs_dead.
(SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
   lease_expires_at, updated_at
 FROM leasetop.jobs WHERE status = 'processing')
UNION ALL
(SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
   lease_expires_at, updated_at
 FROM leasetop.jobs WHERE status IN ('failed', 'dead'))
LIMIT $1::bigint
