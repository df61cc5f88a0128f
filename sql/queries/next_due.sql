-- How many seconds until the earliest pending job of the queues is due; negative
-- when one is due already.
--   $1 queues   $2 ids to pass over, as claims do
-- One row; NULL when nothing is pending, only jobs that never come, or the queues are paused.
-- Index: the head of jobs_ready, once for each queue.
SELECT pg_catalog.min(CASE head.run_at
  WHEN '-infinity' THEN 0
  WHEN 'infinity' THEN NULL
  ELSE extract(epoch FROM head.run_at - pg_catalog.clock_timestamp()) END)::float8
FROM pg_catalog.unnest($1::text[]) AS wanted(queue)
CROSS JOIN LATERAL (
  SELECT run_at
  FROM leasetop.jobs
  WHERE jobs.queue = wanted.queue AND status = 'pending' AND id <> ALL ($2::bigint[])
  ORDER BY jobs.queue, run_at, id
  LIMIT 1) AS head
WHERE NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = wanted.queue AND paused_at IS NOT NULL)
