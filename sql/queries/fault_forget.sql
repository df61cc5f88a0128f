-- Removes those of a fault's own jobs that are completed.
--   $1 ids   $2 its queue
-- Rows: the ids of those that are left. Index: primary key.
WITH gone AS (
  DELETE FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND queue = $2::text
    AND status = 'completed'
  RETURNING id)
SELECT id
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
  AND queue = $2::text
  AND id NOT IN (SELECT id FROM gone)
