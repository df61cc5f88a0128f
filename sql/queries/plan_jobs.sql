-- The jobs of a plan in the order of their redrive.
--   $1 plan   $2 only those after this job; 0 from the first   $3 states, NULL for all
--   $4 how many at most
-- Rows: id, state, reason, when, and the job's status now, '' when it is gone. One that
-- was not reached when its plan was ended is left; those and the waiting ones stand
-- behind the others, and are not read for those. Index: primary keys, redrive_jobs_once, which
-- plan + 0 leaves no choice about: statistics that know nothing of a plan take it for one job. For
-- the same reason each job is looked up by itself, when the page is known: a join would read all jobs.
SELECT planned.job_id, planned.state, coalesce(pg_catalog.left(planned.reason, 1000), ''), planned.at,
  coalesce((SELECT jobs.status FROM leasetop.jobs WHERE jobs.id = planned.job_id), '')
FROM (
  SELECT listed.*
  FROM (
    SELECT r.position, r.job_id, r.reason, CASE WHEN r.state = 'waiting' THEN ended_at ELSE at END AS at,
      CASE WHEN r.state = 'waiting' AND p.state IN ('cancelled', 'undoing', 'undone') THEN 'left' ELSE r.state END AS state
    FROM leasetop.redrive_plans AS p
    JOIN leasetop.redrive_jobs AS r ON r.plan = p.id
    WHERE p.id = $1::bigint
      AND r.position > greatest(
        (SELECT position FROM leasetop.redrive_jobs WHERE job_id = $2::bigint AND plan + 0 = $1::bigint),
        CASE WHEN $3::text[] OPERATOR(pg_catalog.<@) '{waiting,left}' THEN (SELECT reached FROM leasetop.redrive_plans WHERE id = $1::bigint) ELSE 0 END)
      AND r.position <= (SELECT CASE WHEN $3::text[] OPERATOR(pg_catalog.&&) '{waiting,left}' OR $3::text[] IS NULL THEN total ELSE reached END
        FROM leasetop.redrive_plans WHERE id = $1::bigint)
  ) AS listed
  WHERE $3::text[] IS NULL OR listed.state = ANY ($3::text[])
  ORDER BY listed.position
  LIMIT $4::int
) AS planned
ORDER BY planned.position
