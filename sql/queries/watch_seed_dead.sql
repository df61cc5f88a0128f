-- Dead letters of a slot's snapshot, a chunk at a time.
--   $1 queue, $2 died_at, $3 id: of the last row before   $4 limit
-- Rows: queue, died_at, id, status. Index: jobs_dead, mostly without looking at the table.
SELECT queue, died_at, id, status
FROM leasetop.jobs
WHERE status IN ('failed', 'dead') AND (queue, died_at, id) > ($1::text, $2::timestamptz, $3::bigint)
ORDER BY queue, died_at, id
LIMIT $4::bigint
