-- Whether the index that claims rely on is there, and whether it is whole.
-- No parameters, one row.
SELECT count(*) > 0, coalesce(bool_and(indisvalid), false)
FROM pg_index
WHERE indexrelid = to_regclass('leasetop.jobs_ready')
