-- The jobs of a plan that were skipped or could not be taken back, in the order of their turns.
--   $1 plan   $2 only those after this job; 0 from the first   $3 states, skipped and redriven
--   $4 how many at most
-- Rows: as plan_jobs.sql. Index: redrive_jobs_reasons, redrive_jobs_once, primary key; as in plan_jobs.sql.
SELECT r.job_id, r.state, pg_catalog.left(r.reason, 1000), r.at, coalesce(jobs.status, '')
FROM leasetop.redrive_jobs AS r
LEFT JOIN leasetop.jobs ON jobs.id = r.job_id
WHERE r.plan = $1::bigint
  AND r.position > coalesce((SELECT position FROM leasetop.redrive_jobs WHERE job_id = $2::bigint AND plan + 0 = $1::bigint), 0)
  AND r.reason IS NOT NULL
  AND r.state = ANY ($3::text[])
ORDER BY r.position
LIMIT $4::int
