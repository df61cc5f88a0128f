-- Who has a table of the schema locked so that no row of it can be changed, or waits to.
-- No parameters. Rows: at most one: the table, whether it is locked (else somebody
-- waits for that, and all who come later behind him), and who, as lockers.sql has it.
SELECT c.relname::text, held.granted, coalesce(held.pid, 0)::bigint, coalesce(prepared.gid, ''), coalesce(session.application_name, ''),
  coalesce(session.usename, prepared.owner, '')::text,
  extract(epoch FROM pg_catalog.clock_timestamp() - coalesce(session.xact_start, prepared.prepared))::float8
FROM pg_catalog.pg_locks AS held
JOIN pg_catalog.pg_class AS c ON c.oid = held.relation
LEFT JOIN pg_catalog.pg_stat_activity AS session ON session.pid = held.pid
LEFT JOIN pg_catalog.pg_locks AS transaction ON held.pid IS NULL AND transaction.locktype = 'transactionid' AND transaction.virtualtransaction = held.virtualtransaction
LEFT JOIN pg_catalog.pg_prepared_xacts AS prepared ON prepared.transaction = transaction.transactionid
WHERE held.locktype = 'relation'
  AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND c.relnamespace = pg_catalog.to_regnamespace('leasetop')::oid
  AND c.relname IN ('jobs', 'jobs_archive', 'queues', 'originals', 'once', 'redrive_plans', 'redrive_jobs', 'operator_log')
  AND held.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND held.pid IS DISTINCT FROM pg_catalog.pg_backend_pid()
ORDER BY held.granted DESC, session.xact_start
LIMIT 1
