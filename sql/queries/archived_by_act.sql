-- The discarded jobs that one act of the operator log discarded, by id.
--   $1 the entry's id
-- Rows: ids. Index: jobs_archive_act.
SELECT id
FROM leasetop.jobs_archive
WHERE archived_act = $1::bigint
ORDER BY id
