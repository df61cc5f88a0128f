-- Has this connection find PostgreSQL's own names first, whatever the role's search_path is,
-- unless a pooler stands between: then the setting would stay behind on a connection that
-- others get.
--   $1 the process id which the connection was told
-- Rows: one; none behind a pooler.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false)
WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) $1::bigint
