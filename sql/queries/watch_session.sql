-- Sets a connection up for readings that bear any table, unless a pooler stands between:
-- then the settings would stay behind on a connection that others get. A limit on each
-- reading; and two because where a hundred thousand jobs wait the planner would compile
-- their counting (up to a second and more for what takes 50 ms), and with a plan for any
-- cap, as it makes from the sixth execution on, read the whole table once for each queue.
--   $1 the process id which the connection was told   $2 statement_timeout
-- Rows: the settings; none behind a pooler.
SELECT set_config(name, setting, false)
FROM (VALUES ('statement_timeout', $2::text), ('jit', 'off'), ('plan_cache_mode', 'force_custom_plan')) AS session(name, setting)
WHERE pg_backend_pid() = $1::int
