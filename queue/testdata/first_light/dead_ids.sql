-- Every dead letter there is now, oldest death first: the set of a redrive of many.
--   $1 queue, NULL for all
-- Rows: ids. Index: jobs_dead.
SELECT id
FROM leasetop.jobs
WHERE status IN ('failed', 'dead')
  AND ($1::text IS NULL OR queue = $1::text)
ORDER BY died_at, id
