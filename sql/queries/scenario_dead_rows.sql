-- How many old versions of rows the last VACUUM left, and those that came since.
-- No parameters, one row.
SELECT n_dead_tup
FROM pg_catalog.pg_stat_all_tables
WHERE relid = 'leasetop.jobs'::regclass::oid
