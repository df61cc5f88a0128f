-- Who has the lock of migration_lock.sql.
-- No parameters. Rows: at most one: process id, application name, user.
SELECT pid, coalesce(application_name, ''), coalesce(usename::text, '')
FROM pg_catalog.pg_locks JOIN pg_catalog.pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = 4097083626
LIMIT 1
