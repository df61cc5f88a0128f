-- Removes all jobs of a queue that a fault made for itself, in whatever status.
--   $1 the queue
-- Rows affected: the jobs removed. No index: completed jobs are in none.
DELETE FROM leasetop.jobs
WHERE queue = $1::text
