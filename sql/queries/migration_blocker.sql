-- The longest transaction that has locked a table of this schema: one for whose end a
-- migration may be waiting.
-- No parameters. Rows: at most one: process id, application name, user.
SELECT pid, coalesce(application_name, ''), coalesce(usename::text, '')
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'relation' AND granted AND pid <> pg_backend_pid()
  AND relation IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('leasetop')::oid)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY xact_start
LIMIT 1
