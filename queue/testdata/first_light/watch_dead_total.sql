-- How many dead letters there are.
--   $1 cap: the count goes no further
-- One row: the count, and the time of the reading. Index: jobs_dead.
SELECT count(*), now()
FROM (SELECT FROM leasetop.jobs WHERE status IN ('failed', 'dead') LIMIT $1::bigint) AS counted
