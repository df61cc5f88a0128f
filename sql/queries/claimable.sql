-- The jobs that a claim would take now. It is asked after a claim was refused because of
-- one of them, or found nothing though a job is due.
--   $1 queue   $2 limit   $3 ids to pass over
-- Rows: id and version of each, the longest due first. They are locked as the claim does,
-- for the length of this statement, so that those which others hold are not counted.
-- Index: jobs_ready.
SELECT id, xmin::text
FROM leasetop.jobs
WHERE queue = $1::text
  AND status = 'pending'
  AND run_at <= pg_catalog.now()
  AND id <> ALL ($3::bigint[])
  AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
ORDER BY run_at, id
LIMIT $2::int
FOR UPDATE SKIP LOCKED
