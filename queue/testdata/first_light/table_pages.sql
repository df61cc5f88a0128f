-- The size of the table in pages, and the time. No parameters, one row.
SELECT pg_relation_size('leasetop.jobs') / current_setting('block_size')::bigint, now()
