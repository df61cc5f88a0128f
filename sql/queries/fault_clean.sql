-- Removes the jobs that faults of killed programs left in queues of their own, in whatever
-- status.
--   $1 how the names of these queues begin
-- Rows affected: the jobs removed. No index: completed jobs are in none.
DELETE FROM leasetop.jobs
WHERE starts_with(queue, $1::text)
