-- Completes the jobs at the head of a queue, all in one statement.
--   $1 queue   $2 at most so many
-- Rows affected: those completed. Each leaves a dead entry in the ready index. Index: jobs_ready.
UPDATE leasetop.jobs
SET status = 'completed', attempts = 1, updated_at = pg_catalog.now()
WHERE id = ANY (ARRAY(
  SELECT id
  FROM leasetop.jobs
  WHERE queue = $1::text
    AND status = 'pending'
    AND run_at <= pg_catalog.now()
  ORDER BY run_at, id
  LIMIT $2::int))
