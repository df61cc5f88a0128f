-- Bounds every later statement of a connection and has none of them compiled, unless a
-- pooler stands between: then the settings would stay behind on a connection that others
-- get. Where a hundred thousand jobs wait the planner expects so much of counting them
-- that it would compile that: up to a second and more, for what takes 30 ms without.
--   $1 the process id which the connection was told   $2 statement_timeout
-- Rows: the settings; none behind a pooler.
SELECT set_config(name, setting, false)
FROM (VALUES ('statement_timeout', $2::text), ('jit', 'off')) AS session(name, setting)
WHERE pg_backend_pid() = $1::int
