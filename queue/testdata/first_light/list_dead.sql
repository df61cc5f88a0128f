-- Dead letters, newest death first, without payload and history.
--   $1 queue, NULL for all   $2, $3 cursor: died_at and id of the last row seen   $4 limit
-- Rows: the page. Index: jobs_dead, read backwards once for each queue that has any; the
-- queues are found by skipping from one to the next.
WITH RECURSIVE dead_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status IN ('failed', 'dead') ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > dead_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM dead_queues WHERE dead_queues.queue IS NOT NULL)
SELECT page.*
FROM dead_queues CROSS JOIN LATERAL (
  SELECT id, jobs.queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
    lease_expires_at, coalesce(left(last_error, 1000), ''), coalesce(fingerprint, ''), coalesce(idempotency_key, ''),
    died_at, created_at, updated_at
  FROM leasetop.jobs
  WHERE jobs.queue = dead_queues.queue
    AND status IN ('failed', 'dead')
    AND (died_at, id) < ($2::timestamptz, $3::bigint)
  ORDER BY jobs.queue DESC, died_at DESC, id DESC
  LIMIT $4::int) AS page
WHERE dead_queues.queue IS NOT NULL
  AND ($1::text IS NULL OR dead_queues.queue = $1::text)
ORDER BY page.died_at DESC, page.id DESC
LIMIT $4::int
