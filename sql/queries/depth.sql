-- How many jobs each queue has by status. To be planned as depth_plan.sql says.
--   $1 cap: no count reads further than so many entries of its index, NULL for no cap.
--      Failed and dead share an index and are counted by one reading, of the newest.
--   $2 percentage of the table's pages that is read for the completed; 100 makes them exact
-- Rows: queue, ready, scheduled, processing, completed, failed, dead, age of the oldest
-- ready job in seconds (NULL without one), and the time of the reading.
-- Indexes: jobs_ready, jobs_active, jobs_dead, each skipped from queue to queue, and each
-- read in its order: a count of what a bitmap found first would read all there is, and
-- find out only then that it goes no further. The completed are in no index and are
-- counted from a sample of pages.
WITH RECURSIVE
pending_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status = 'pending' ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status = 'pending' AND jobs.queue > pending_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM pending_queues WHERE pending_queues.queue IS NOT NULL
),
active_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status = 'processing' ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status = 'processing' AND jobs.queue > active_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM active_queues WHERE active_queues.queue IS NOT NULL
),
dead_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status IN ('failed', 'dead') ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > dead_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM dead_queues WHERE dead_queues.queue IS NOT NULL
),
done AS (
  SELECT queue, pg_catalog.round((pg_catalog.count(*) * 100)::float8 / $2::float8)::bigint AS n
  FROM leasetop.jobs TABLESAMPLE SYSTEM ($2::float8) REPEATABLE (1)
  WHERE status = 'completed'
  GROUP BY queue
),
names AS (
  SELECT queue FROM pending_queues WHERE queue IS NOT NULL
  UNION SELECT queue FROM active_queues WHERE queue IS NOT NULL
  UNION SELECT queue FROM dead_queues WHERE queue IS NOT NULL
  UNION SELECT queue FROM done
)
SELECT names.queue, ready.n, scheduled.n, active.n, coalesce(done.n, 0), gone.failed, gone.dead, oldest.age, pg_catalog.now()
FROM names
LEFT JOIN done USING (queue)
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM leasetop.jobs
    WHERE jobs.queue = names.queue AND status = 'pending' AND run_at <= pg_catalog.now()
    ORDER BY jobs.queue, run_at, id LIMIT $1::bigint) AS counted) AS ready
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM leasetop.jobs
    WHERE jobs.queue = names.queue AND status = 'pending' AND run_at > pg_catalog.now()
    ORDER BY jobs.queue, run_at, id LIMIT $1::bigint) AS counted) AS scheduled
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM leasetop.jobs
    WHERE jobs.queue = names.queue AND status = 'processing'
    ORDER BY jobs.queue, id LIMIT $1::bigint) AS counted) AS active
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) FILTER (WHERE status = 'failed') AS failed, pg_catalog.count(*) FILTER (WHERE status = 'dead') AS dead FROM (
    SELECT status FROM leasetop.jobs
    WHERE jobs.queue = names.queue AND status IN ('failed', 'dead')
    ORDER BY jobs.queue DESC, died_at DESC, id DESC LIMIT $1::bigint) AS counted) AS gone
LEFT JOIN LATERAL (
  SELECT extract(epoch FROM pg_catalog.now() - run_at)::float8 AS age FROM leasetop.jobs
  WHERE jobs.queue = names.queue AND status = 'pending' AND run_at <= pg_catalog.now() AND run_at > '-infinity'
  ORDER BY jobs.queue, run_at, id LIMIT 1) AS oldest ON true
ORDER BY names.queue
