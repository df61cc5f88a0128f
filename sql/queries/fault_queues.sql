-- The queues of their own that faults have jobs in, of programs that live and of those
-- that were killed.
--   $1 how the names of these queues begin
-- Rows: their names. No index: completed jobs are in none.
SELECT DISTINCT queue
FROM leasetop.jobs
WHERE pg_catalog.starts_with(queue, $1::text)
