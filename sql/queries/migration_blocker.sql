-- The longest transaction that has locked a table of this schema: one for whose end a
-- migration may be waiting.
-- No parameters. Rows: at most one: process id, application name, user.
SELECT pid, coalesce(application_name, ''), coalesce(usename::text, '')
FROM pg_catalog.pg_locks JOIN pg_catalog.pg_stat_activity USING (pid)
WHERE locktype = 'relation' AND granted AND pid <> pg_catalog.pg_backend_pid()
  AND relation IN (SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.to_regnamespace('leasetop')::oid)
  AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
ORDER BY xact_start
LIMIT 1
