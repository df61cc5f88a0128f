-- Bounds every later statement of a connection, unless a pooler stands between: then
-- the setting would stay behind on a connection that others get.
--   $1 the process id which the connection was told   $2 statement_timeout
-- One row: the setting, or NULL behind a pooler.
SELECT CASE WHEN pg_backend_pid() = $1::int THEN set_config('statement_timeout', $2::text, false) END
