-- Moves jobs back from the archive, as they were; their histories tell of it.
--   $1 ids   $2 who restores
-- Rows: the ids moved. A division by zero: a trigger keeps one out of jobs, which must not
-- lose it. A missing one is not in the archive, or jobs holds another of
-- its id. Locks in id order. Index: primary key.
WITH wanted AS (
  SELECT id
  FROM leasetop.jobs_archive
  WHERE id = ANY ($1::bigint[])
  ORDER BY id
  FOR UPDATE),
gone AS (
  DELETE FROM leasetop.jobs_archive
  USING wanted
  WHERE jobs_archive.id = wanted.id
    AND NOT EXISTS (SELECT FROM leasetop.jobs WHERE jobs.id = jobs_archive.id)
  RETURNING jobs_archive.*),
kept AS (
  INSERT INTO leasetop.jobs (id, queue, payload, status, attempts, max_attempts, run_at, last_error,
    created_at, updated_at, kind, idempotency_key, errors, cancelled_by)
  SELECT id, queue, payload, status, attempts, max_attempts, run_at, last_error,
    created_at, updated_at, kind, idempotency_key,
    leasetop.with_attempt(errors, attempts, $2::text, 'restored', ''), cancelled_by
  FROM gone
  RETURNING id)
SELECT gone.id / (kept.id IS NOT NULL)::int
FROM gone
LEFT JOIN kept ON kept.id = gone.id
