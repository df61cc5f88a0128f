-- Takes back the jobs of a plan that nobody has touched since, those redriven last first, in
-- one transaction with its row and theirs: dead letters again as they were.
--   $1 plan   $2 fencing token   $3 the position to go down from   $4 how many jobs at most
--   $5 lease in seconds
-- Rows: one, with how many of these were taken back and how many were not; none, and
-- nothing was done, when the plan is not being undone, not the caller's, or somewhere else
-- than the caller knows. One that was claimed since, or changed, stays, with the reason: a redriven
-- job has its updated_at from then in at. As in plan_redrive.sql, nothing is joined that
-- would be read once for each job. Locks as plan_redrive.sql. Index: primary keys, jobs_archive_pkey.
WITH mine AS (
  SELECT id, state_by || ' (plan ' || id::text || ')' AS by
  FROM leasetop.redrive_plans
  WHERE id = $1::bigint
    AND token = $2::text
    AND taken = $3::bigint
    AND state = 'undoing'
  FOR NO KEY UPDATE),
batch AS (
  SELECT r.position, r.job_id, r.at, r.status, r.attempts, r.run_at, r.updated_at, r.cancelled_by, mine.by
  FROM mine
  JOIN leasetop.redrive_jobs AS r ON r.plan = mine.id
  WHERE r.plan = $1::bigint
    AND r.position <= $3::bigint
    AND r.position > $3::bigint - $4::int
    AND r.state = 'redriven'
  ORDER BY r.position DESC
  LIMIT $4::int), -- which the range implies, and the planner does not know
untouched AS (
  SELECT id, updated_at
  FROM leasetop.jobs
  WHERE id = ANY (ARRAY(SELECT job_id FROM batch))
    AND status IS NOT DISTINCT FROM 'pending'
    AND attempts = 0
  ORDER BY id
  FOR NO KEY UPDATE),
judged AS MATERIALIZED (
  SELECT *, (job_id, at) IN (SELECT id, updated_at FROM untouched) AS fits
  FROM batch),
back AS (
  UPDATE leasetop.jobs
  SET status = judged.status,
      attempts = judged.attempts,
      run_at = judged.run_at,
      cancelled_by = judged.cancelled_by,
      errors = leasetop.with_attempt(jobs.errors, judged.attempts, judged.by, 'taken back', ''),
      updated_at = judged.updated_at
  FROM judged
  WHERE judged.fits
    AND jobs.id = ANY (ARRAY(SELECT job_id FROM judged))
    AND jobs.id = judged.job_id
    AND jobs.status IS NOT DISTINCT FROM 'pending'
  RETURNING jobs.id),
noted AS (
  UPDATE leasetop.redrive_jobs AS r
  SET state = CASE WHEN batch.job_id IN (SELECT id FROM back) THEN 'undone' ELSE 'redriven' END,
      at = CASE WHEN batch.job_id IN (SELECT id FROM back) THEN pg_catalog.now() ELSE r.at END,
      reason = CASE WHEN batch.job_id NOT IN (SELECT id FROM back) THEN coalesce(
        (SELECT 'a trigger or a row policy of the table leaves the row as it was' FROM judged WHERE judged.job_id = batch.job_id AND judged.fits),
        (SELECT CASE jobs.status WHEN 'processing' THEN 'running' WHEN 'completed' THEN 'completed' WHEN 'pending'
            THEN CASE WHEN jobs.attempts > 0 THEN 'claimed since' ELSE 'changed since' END ELSE 'died again' END
          FROM leasetop.jobs WHERE jobs.id = batch.job_id),
        (SELECT 'discarded since' FROM leasetop.jobs_archive WHERE jobs_archive.id = batch.job_id),
        'gone') END
  FROM batch
  WHERE r.plan = $1::bigint
    AND r.position <= $3::bigint
    AND r.position > $3::bigint - $4::int
    AND r.position = batch.position
  RETURNING r.state)
UPDATE leasetop.redrive_plans AS p
SET taken = greatest(p.taken - $4::int, 0),
    undone = p.undone + done.undone,
    executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::float8)
FROM mine,
  (SELECT pg_catalog.count(*) FILTER (WHERE state = 'undone') AS undone, pg_catalog.count(*) FILTER (WHERE state = 'redriven') AS stay FROM noted) AS done
WHERE p.id = mine.id
RETURNING done.undone, done.stay
