-- Removes all jobs of the queues that faults made for themselves, in whatever status.
--   $1 the queue, or with a dash at its end the beginning of the names of all
-- Rows affected: the jobs removed. No index: completed jobs are in none.
DELETE FROM leasetop.jobs
WHERE queue = $1::text OR right($1::text, 1) = '-' AND starts_with(queue, $1::text)
