-- Sets a connection up for readings that bear any table, unless a pooler stands between:
-- then the settings would stay behind on a connection that others get. A limit on each
-- reading: ours, or that of the role, the database or the server, which is not to be
-- lifted. And how readings are planned: where a hundred thousand jobs wait the planner
-- would compile their counting (up to a second and more for what takes 50 ms); with a
-- plan for any cap, as it makes from the sixth execution on, read the whole table once
-- for each queue; and by a bitmap read all of an index for a page of it.
--   $1 the process id which the connection was told   $2 our statement_timeout in ms
-- Rows: name and value of each setting; none behind a pooler.
SELECT name, pg_catalog.set_config(name, value, false)
FROM (
  SELECT name, least(nullif(setting::bigint, 0), $2::bigint)::text FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'
  UNION ALL VALUES ('jit', 'off'), ('plan_cache_mode', 'force_custom_plan'), ('enable_bitmapscan', 'off')
) AS session(name, value)
WHERE pg_catalog.pg_backend_pid() = $1::bigint
