-- The sessions on which workers of a play hear of new work.
--   $1 their application name
-- Rows: the process of each, by number.
SELECT pid
FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND application_name = $1::text
ORDER BY pid
