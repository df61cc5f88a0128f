-- Waiting jobs of a slot's snapshot, a chunk at a time.
--   $1 queue, $2 run_at, $3 id: of the last row before   $4 limit
-- Rows: queue, run_at, id. Index: jobs_ready, mostly without looking at the table.
SELECT queue, run_at, id
FROM leasetop.jobs
WHERE status = 'pending' AND (queue, run_at, id) > ($1::text, $2::timestamptz, $3::bigint)
ORDER BY queue, run_at, id
LIMIT $4::bigint
