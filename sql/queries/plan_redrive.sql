-- Redrives the next jobs of a plan, in one transaction with its row and theirs.
--   $1 plan   $2 fencing token   $3 the position reached   $4 how many jobs at most
--   $5 lease in seconds
-- Rows: one, with how many of these jobs were redriven and how many skipped; none, and nothing was done,
-- when the plan is not running, not the caller's, or somewhere else than the caller
-- knows, as when the answer to the batch before was lost. A job that is no dead letter any
-- more, or whose idempotency key a live one holds, is skipped with the reason. The workers of
-- the queues are woken by the commit. The row of the plan is locked first, then the jobs in
-- id order. A key that becomes live meanwhile fails it with 23505.
-- Run under plan_patience.sql: all that is joined is read once, whatever the statistics say. Index: primary keys, jobs_idempotency, jobs_archive_pkey, redrive_jobs_once.
WITH mine AS (
  SELECT id, by_whom || ' (plan ' || id::text || ')' AS by
  FROM leasetop.redrive_plans
  WHERE id = $1::bigint
    AND token = $2::text
    AND reached = $3::bigint
    AND state = 'running'
  FOR NO KEY UPDATE),
batch AS (
  SELECT r.position, r.job_id, mine.by
  FROM mine
  JOIN leasetop.redrive_jobs AS r ON r.plan = mine.id
  WHERE r.plan = $1::bigint
    AND r.position > $3::bigint
    AND r.position <= $3::bigint + $4::int
    AND r.state = 'waiting'
  ORDER BY r.position
  LIMIT $4::int), -- which the range implies, and the planner does not know
dead AS (
  SELECT id, queue, idempotency_key, status, attempts, run_at, updated_at, cancelled_by
  FROM leasetop.jobs
  WHERE id = ANY (ARRAY(SELECT job_id FROM batch))
    AND died_at IS NOT NULL
  ORDER BY id
  FOR NO KEY UPDATE),
judged AS (
  SELECT batch.position, batch.job_id, batch.by, dead.status, dead.attempts, dead.run_at, dead.updated_at, dead.cancelled_by,
    CASE
      WHEN dead.id IS NULL THEN coalesce(
        (SELECT CASE WHEN jobs.status IN ('failed', 'dead') THEN 'changed a moment ago' ELSE 'not a dead letter: ' || jobs.status END
          FROM leasetop.jobs WHERE jobs.id = batch.job_id),
        (SELECT 'already discarded' FROM leasetop.jobs_archive WHERE jobs_archive.id = batch.job_id),
        'no such job')
      WHEN dead.idempotency_key IS NOT NULL THEN 'idempotency key in use by #' || (coalesce(
        (SELECT live.id FROM leasetop.jobs AS live
          WHERE live.queue = dead.queue AND live.idempotency_key = dead.idempotency_key AND live.status IN ('pending', 'processing')),
        nullif(pg_catalog.first_value(dead.id) OVER (PARTITION BY dead.queue, dead.idempotency_key ORDER BY batch.position), dead.id)))::text
    END AS reason
  FROM batch
  LEFT JOIN dead ON dead.id = batch.job_id),
written AS (
  UPDATE leasetop.jobs
  SET status = 'pending',
      run_at = pg_catalog.now(),
      attempts = 0,
      locked_at = NULL,
      locked_by = NULL,
      lease_expires_at = NULL,
      cancelled_by = NULL,
      errors = leasetop.with_attempt(jobs.errors, jobs.attempts, judged.by, 'redriven', ''),
      updated_at = pg_catalog.now()
  FROM judged
  WHERE jobs.id = ANY (ARRAY(SELECT job_id FROM judged))
    AND jobs.id = judged.job_id
    AND judged.reason IS NULL
    AND jobs.status IN ('failed', 'dead')
  RETURNING jobs.id, jobs.queue, jobs.status, jobs.updated_at), -- a trigger may have made them something else
moved AS (
  SELECT id, queue, updated_at
  FROM written
  WHERE status IS NOT DISTINCT FROM 'pending'),
answered AS ( -- plans that redrove one before know that it had died again
  UPDATE leasetop.redrive_jobs
  SET again = pg_catalog.now()
  WHERE job_id = ANY (ARRAY(SELECT id FROM moved))
    AND plan <> $1::bigint
    AND state = 'redriven'
    AND again IS NULL),
judgement AS (
  SELECT judged.*, moved.id IS NOT NULL AS redriven, moved.updated_at AS moved_at
  FROM judged
  LEFT JOIN moved ON moved.id = judged.job_id),
noted AS (
  UPDATE leasetop.redrive_jobs AS r
  SET state = CASE WHEN judged.redriven THEN 'redriven' ELSE 'skipped' END,
      at = coalesce(judged.moved_at, pg_catalog.now()), -- plan_undo.sql compares it with the row's
      reason = CASE WHEN NOT judged.redriven THEN coalesce(judged.reason, 'a trigger or a row policy of the table leaves the row as it was') END,
      status = judged.status,
      attempts = judged.attempts,
      run_at = judged.run_at,
      updated_at = judged.updated_at,
      cancelled_by = judged.cancelled_by
  FROM judgement AS judged
  WHERE r.plan = $1::bigint
    AND r.position > $3::bigint
    AND r.position <= $3::bigint + $4::int
    AND r.position = judged.position
  RETURNING r.state)
UPDATE leasetop.redrive_plans AS p
SET reached = p.reached + done.redriven + done.skipped,
    redriven = p.redriven + done.redriven,
    skipped = p.skipped + done.skipped,
    moved_at = CASE WHEN done.redriven > 0 THEN pg_catalog.now() ELSE moved_at END,
    executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::float8)
FROM mine,
  (SELECT pg_catalog.count(*) FILTER (WHERE state = 'redriven') AS redriven, pg_catalog.count(*) FILTER (WHERE state = 'skipped') AS skipped FROM noted) AS done,
  (SELECT pg_catalog.count(pg_catalog.pg_notify('leasetop_ready', queue)) FROM (SELECT DISTINCT queue FROM moved WHERE pg_catalog.pg_notification_queue_usage() <= 0.9::float8) AS woken) AS told
WHERE p.id = mine.id
RETURNING done.redriven, done.skipped
