-- Adds jobs that were completed long ago, as the history of a busy queue.
--   $1 queue   $2 how many
-- Rows affected: as many.
INSERT INTO leasetop.jobs (queue, status, attempts, created_at, run_at, updated_at)
SELECT $1::text, 'completed', 1, done_at - interval '1 second', done_at - interval '1 second', done_at
FROM (SELECT pg_catalog.now() - pg_catalog.make_interval(secs => n) AS done_at FROM pg_catalog.generate_series(1, $2::int) AS n) AS history
