-- How the jobs of a play stand.
--   $1 its queues
-- Rows: queue, pending, processing, completed, failed, dead; none for a queue without jobs.
-- Reads the play's jobs whole, which are few, or alone in a schema of their own.
SELECT queue,
  pg_catalog.count(*) FILTER (WHERE status = 'pending'), pg_catalog.count(*) FILTER (WHERE status = 'processing'),
  pg_catalog.count(*) FILTER (WHERE status = 'completed'), pg_catalog.count(*) FILTER (WHERE status = 'failed'),
  pg_catalog.count(*) FILTER (WHERE status = 'dead')
FROM leasetop.jobs
WHERE queue = ANY ($1::text[])
GROUP BY queue
ORDER BY queue
