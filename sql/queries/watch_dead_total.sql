-- How many dead letters there are.
--   $1 cap: no further than this is counted
-- One row: the count, and the time of the reading. Index: jobs_dead, read in its order,
-- so that no more of it is read than is counted.
SELECT count(*), now()
FROM (SELECT FROM leasetop.jobs WHERE status IN ('failed', 'dead')
      ORDER BY queue DESC, died_at DESC, id DESC LIMIT $1::bigint) AS counted
