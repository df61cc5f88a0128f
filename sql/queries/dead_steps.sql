-- Where a long reading of the dead letters can pause: every so many of them, in the order
-- of jobs_dead.
--   $1 queue, NULL for all   $2, $3, $4 after this queue, died_at and id
--   $5 how many dead letters a step is   $6 how many steps
-- Rows: the last dead letter of each step, in their order; what comes after the last of
-- them, if there are fewer than was asked for, is less than a step. Index: jobs_dead
-- alone. Within a queue a comparison of rows that begins with the queue would not say
-- where to begin reading.
WITH RECURSIVE steps(n, queue, died_at, id) AS (
  SELECT 0::bigint, $2::text, $3::timestamptz, $4::bigint
  UNION ALL
  SELECT n + 1, ends.*
  FROM steps CROSS JOIN LATERAL (
    SELECT jobs.queue, jobs.died_at, jobs.id
    FROM leasetop.jobs
    WHERE status IN ('failed', 'dead')
      AND ($1::text IS NULL OR jobs.queue = $1::text AND (jobs.died_at, jobs.id) > (steps.died_at, steps.id))
      AND ($1::text IS NOT NULL OR (jobs.queue, jobs.died_at, jobs.id) > (steps.queue, steps.died_at, steps.id))
    ORDER BY jobs.queue, jobs.died_at, jobs.id
    OFFSET $5::bigint - 1 LIMIT 1) AS ends
  WHERE n < $6::bigint
)
SELECT queue, died_at, id FROM steps WHERE n > 0 ORDER BY n
