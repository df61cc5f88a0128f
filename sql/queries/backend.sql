-- Which process serves this connection. The connection was told another when a pooler
-- stands between.
-- No parameters, one row.
SELECT pg_catalog.pg_backend_pid()
