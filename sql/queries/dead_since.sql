-- Since when there are dead letters, and the database's time.
--   $1 queues, NULL for all
-- One row: when the first of them died, NULL without any, and now. Index: jobs_dead, of
-- which one entry is read for each queue, skipping from one to the next.
WITH RECURSIVE skipped(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status IN ('failed', 'dead') AND $1::text[] IS NULL ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > skipped.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM skipped WHERE skipped.queue IS NOT NULL
),
dead_queues(queue) AS (
  SELECT queue FROM skipped WHERE queue IS NOT NULL
  UNION ALL
  SELECT pg_catalog.unnest($1::text[])
)
SELECT pg_catalog.min(first.died_at), pg_catalog.now()
FROM dead_queues CROSS JOIN LATERAL (
  SELECT died_at FROM leasetop.jobs
  WHERE jobs.queue = dead_queues.queue AND status IN ('failed', 'dead')
  ORDER BY jobs.queue, died_at, id
  LIMIT 1) AS first
