-- Removes jobs that a fault enqueued itself.
--   $1 ids   $2 its queue   $3 whether only those that are completed
-- Rows: the ids removed. Index: primary key.
DELETE FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
  AND queue = $2::text
  AND (status = 'completed' OR NOT $3::boolean)
RETURNING id
