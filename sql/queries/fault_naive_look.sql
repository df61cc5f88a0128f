-- The first half of a claim that looks and then takes: which job is first.
--   $1 queue
-- Rows: its id; none when nothing is due. Nothing is locked, so any number of workers
-- see the same one. Index: jobs_ready.
SELECT id
FROM leasetop.jobs
WHERE queue = $1::text
  AND status = 'pending'
  AND run_at <= pg_catalog.now()
ORDER BY run_at, id
LIMIT 1
