-- The jobs of a plan in the order of their redrive.
--   $1 plan   $2 only those after this job; 0 from the first   $3 states, NULL for all
--   $4 how many at most
-- Rows: id, state, reason, when, and the job's status now, '' when it is gone. One that
-- was not reached when its plan was ended is left; those and the waiting ones stand
-- behind the others. Index: primary keys, redrive_jobs_once, which
-- plan + 0 leaves no choice about: statistics that know nothing of a plan take it for one job.
SELECT planned.job_id, planned.state, coalesce(planned.reason, ''), planned.at, coalesce(jobs.status, '')
FROM (
  SELECT r.position, r.job_id, r.reason, CASE WHEN r.state = 'waiting' THEN ended_at ELSE at END AS at,
    CASE WHEN r.state = 'waiting' AND p.state IN ('cancelled', 'undoing', 'undone') THEN 'left' ELSE r.state END AS state
  FROM leasetop.redrive_plans AS p
  JOIN leasetop.redrive_jobs AS r ON r.plan = p.id
  WHERE p.id = $1::bigint
    AND r.position > greatest(
      (SELECT position FROM leasetop.redrive_jobs WHERE job_id = $2::bigint AND plan + 0 = $1::bigint),
      CASE WHEN $3::text[] <@ '{waiting,left}' THEN (SELECT reached FROM leasetop.redrive_plans WHERE id = $1::bigint) ELSE 0 END)
) AS planned
LEFT JOIN leasetop.jobs ON jobs.id = planned.job_id
WHERE $3::text[] IS NULL OR planned.state = ANY ($3::text[])
ORDER BY planned.position
LIMIT $4::int
