-- What has become by now of the jobs that a plan redrove.
--   $1 plan   $2, $3 only those at positions above the first and up to the second
-- Rows: one: how many there are, and how many of them are completed, dead letters again,
-- in processing, pending, and gone from the table. One that
-- somebody else redrove since had died again. Index: primary keys. Each job is looked up by
-- itself, and once: the planner, who knows nothing of a new plan, must neither read all jobs for
-- some nor look up each for every count.
WITH became AS MATERIALIZED (
  SELECT CASE WHEN r.again IS NOT NULL THEN 'dead' ELSE (SELECT jobs.status FROM leasetop.jobs WHERE jobs.id = r.job_id) END AS status
  FROM leasetop.redrive_jobs AS r
  WHERE r.plan = $1::bigint
    AND r.position > $2::bigint
    AND r.position <= $3::bigint
    AND r.state = 'redriven')
SELECT pg_catalog.count(*),
  pg_catalog.count(*) FILTER (WHERE status = 'completed'),
  pg_catalog.count(*) FILTER (WHERE status IN ('failed', 'dead')),
  pg_catalog.count(*) FILTER (WHERE status = 'processing'),
  pg_catalog.count(*) FILTER (WHERE status = 'pending'),
  pg_catalog.count(*) FILTER (WHERE status IS NULL)
FROM became
