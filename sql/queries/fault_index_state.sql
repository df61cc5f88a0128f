-- Whether the index that claims rely on is there, and whether it is whole.
-- No parameters, one row.
SELECT pg_catalog.count(*) > 0, coalesce(pg_catalog.bool_and(indisvalid), false)
FROM pg_catalog.pg_index
WHERE indexrelid = pg_catalog.to_regclass('leasetop.jobs_ready')::oid
