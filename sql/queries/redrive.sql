-- Brings dead letters back: pending now, attempts from zero, history kept.
--   $1 ids   $2 who redrives   $3 whether also jobs with an idempotency key: only with
--   a single id, since a key that a live job holds fails the statement with 23505 on
--   jobs_idempotency, and a transaction that waits for one key must hold no other
-- Rows: id and queue of each. A missing one is no dead letter any more, or was left for
-- its key. Plans that redrove one before know then that it had died again. Locks in id order. Index: primary keys, redrive_jobs_once; died_at is set where a job is a dead
-- letter, but does not tempt the planner to read all of jobs_dead for an id, as the
-- status does from PostgreSQL 18 on.
WITH wanted AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND died_at IS NOT NULL
    AND ($3::boolean OR idempotency_key IS NULL)
  ORDER BY id
  FOR NO KEY UPDATE),
written AS (
  UPDATE leasetop.jobs
  SET status = 'pending',
      run_at = pg_catalog.now(),
      attempts = 0,
      locked_at = NULL,
      locked_by = NULL,
      lease_expires_at = NULL,
      cancelled_by = NULL,
      errors = leasetop.with_attempt(errors, attempts, $2::text, 'redriven', ''),
      updated_at = pg_catalog.now()
  FROM wanted
  WHERE jobs.id = wanted.id
    AND jobs.status IN ('failed', 'dead')
    AND ($3::boolean OR jobs.idempotency_key IS NULL)
  RETURNING jobs.id, jobs.queue, jobs.status),
moved AS ( -- unless a trigger made it something else
  SELECT id, queue
  FROM written
  WHERE status IS NOT DISTINCT FROM 'pending'),
answered AS (
  UPDATE leasetop.redrive_jobs
  SET again = pg_catalog.now()
  WHERE job_id = ANY (ARRAY(SELECT id FROM moved))
    AND state = 'redriven'
    AND again IS NULL)
SELECT id, queue FROM moved
