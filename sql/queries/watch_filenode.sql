-- Which file holds the table: a TRUNCATE gives it a new one, and what an older snapshot
-- saw of it is gone. By the simple protocol.
-- No parameters, one row.
SELECT coalesce(pg_catalog.pg_relation_filenode('leasetop.jobs'), 0)
