-- Why a pending job is not running, as far as the table tells.
--   $1 id   $2 how many jobs to count at most
-- One row: seconds until it is due, NULL when it never is or always was; whether it never
-- is; its queue and the queue's pause; how many due jobs of it come before it in the order
-- of claims, how many run, and when the last of those was claimed. None when the job is
-- not pending. Index: primary key, jobs_ready, jobs_active.
WITH job AS (
  SELECT id, queue, run_at
  FROM leasetop.jobs
  WHERE id = $1::bigint
    AND status IS NOT DISTINCT FROM 'pending')
SELECT CASE WHEN pg_catalog.isfinite(job.run_at) THEN extract(epoch FROM job.run_at - pg_catalog.now())::float8 END,
  job.run_at = 'infinity', job.queue,
  pause.paused_at, coalesce(pg_catalog.left(pause.paused_by, 1000), ''), coalesce(pg_catalog.left(pause.paused_why, 10000), ''),
  ahead.n, running.n, running.last
FROM job
LEFT JOIN leasetop.queues AS pause ON pause.queue = job.queue
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM leasetop.jobs
    WHERE jobs.queue = job.queue AND status = 'pending' AND run_at <= pg_catalog.now() AND (jobs.run_at, jobs.id) < (job.run_at, job.id)
    ORDER BY jobs.queue, jobs.run_at, jobs.id LIMIT $2::bigint) AS counted) AS ahead
CROSS JOIN LATERAL (
  SELECT pg_catalog.count(*) AS n, pg_catalog.max(locked_at) AS last FROM (
    SELECT locked_at FROM leasetop.jobs
    WHERE jobs.queue = job.queue AND status = 'processing'
    ORDER BY jobs.queue, jobs.id LIMIT $2::bigint) AS counted) AS running
