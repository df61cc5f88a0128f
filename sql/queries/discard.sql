-- Moves dead letters to the archive, as they are.
--   $1 ids   $2 who discards   $3 why   $4 the entry of the operator log it is done under, NULL none
-- Rows: the ids moved. A division by zero: a trigger keeps one out of the archive, which must
-- not lose it. A missing one is no dead letter, or the archive holds another
-- job of its id. Locks in id order. Index: primary key, which died_at asks for where the
-- status would not: see redrive.sql.
WITH wanted AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND died_at IS NOT NULL
  ORDER BY id
  FOR UPDATE),
gone AS (
  DELETE FROM leasetop.jobs
  USING wanted
  WHERE jobs.id = wanted.id
    AND NOT EXISTS (SELECT FROM leasetop.jobs_archive WHERE jobs_archive.id = jobs.id)
  RETURNING jobs.*),
kept AS (
  INSERT INTO leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, last_error,
    created_at, updated_at, kind, idempotency_key, errors, cancelled_by, archived_by, archived_why, archived_act)
  SELECT id, queue, payload, status, attempts, max_attempts, run_at, last_error,
    created_at, updated_at, kind, idempotency_key, errors, cancelled_by, $2::text, $3::text, $4::bigint
  FROM gone
  RETURNING id)
SELECT gone.id / (kept.id IS NOT NULL)::int
FROM gone
LEFT JOIN kept ON kept.id = gone.id
