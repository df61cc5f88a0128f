-- Dead letters, newest death first, without payload and history.
--   $1 queue, NULL for all   $2, $3 cursor: died_at and id of the last row seen   $4 limit
-- Rows: the page. Index: jobs_dead. The queues that have any are found by skipping from
-- one to the next; one entry is read of each, its newest, and then a page of those whose
-- newest are the newest of all: no other can be on the page.
WITH RECURSIVE dead_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs
   WHERE status IN ('failed', 'dead') AND ($1::text IS NULL OR queue = $1::text)
   ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > dead_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM dead_queues WHERE dead_queues.queue IS NOT NULL AND $1::text IS NULL
),
newest AS MATERIALIZED (
  SELECT head.* FROM dead_queues CROSS JOIN LATERAL (
    SELECT jobs.queue, died_at, id FROM leasetop.jobs
    WHERE jobs.queue = dead_queues.queue
      AND status IN ('failed', 'dead')
      AND (died_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY jobs.queue DESC, died_at DESC, id DESC
    LIMIT 1) AS head
  ORDER BY head.died_at DESC, head.id DESC
  LIMIT $4::int
)
SELECT page.*
FROM newest CROSS JOIN LATERAL (
  SELECT id, jobs.queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
    lease_expires_at, coalesce(left(last_error, 1000), ''), coalesce(fingerprint, ''), coalesce(idempotency_key, ''),
    died_at, created_at, updated_at, coalesce(cancelled_by, '')
  FROM leasetop.jobs
  WHERE jobs.queue = newest.queue
    AND status IN ('failed', 'dead')
    AND (died_at, id) < ($2::timestamptz, $3::bigint)
  ORDER BY jobs.queue DESC, died_at DESC, id DESC
  LIMIT $4::int) AS page
ORDER BY page.died_at DESC, page.id DESC
LIMIT $4::int
