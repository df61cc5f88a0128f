-- The size of the table in pages, and the time. No parameters, one row.
SELECT pg_catalog.pg_relation_size('leasetop.jobs') / pg_catalog.current_setting('block_size')::bigint, pg_catalog.now()
