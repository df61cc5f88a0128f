-- Every discarded job there is now, by id: the set of a restore of many.
--   $1 queue, NULL for all
-- Rows: ids. The archive is read whole: it has no index but its key.
SELECT id
FROM leasetop.jobs_archive
WHERE $1::text IS NULL OR queue = $1::text
ORDER BY id
