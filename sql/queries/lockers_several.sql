-- Who has a row of jobs locked that several have locked at once, or one for two reasons.
--   $1 id
-- Rows: as lockers.sql without the id, of those whose lock keeps others from changing the row.
-- It fails when the row's xmax is no such group of transactions. Index: primary key.
SELECT coalesce(held.pid, 0)::bigint, coalesce(prepared.gid, ''), coalesce(session.application_name, ''),
  coalesce(session.usename, prepared.owner, '')::text,
  extract(epoch FROM pg_catalog.clock_timestamp() - coalesce(session.xact_start, prepared.prepared))::float8
FROM leasetop.jobs AS locked
CROSS JOIN LATERAL pg_catalog.pg_get_multixact_members(locked.xmax) AS member
JOIN pg_catalog.pg_locks AS held ON held.locktype = 'transactionid' AND held.transactionid = member.xid AND held.granted AND held.mode = 'ExclusiveLock'
LEFT JOIN pg_catalog.pg_stat_activity AS session ON session.pid = held.pid
LEFT JOIN pg_catalog.pg_prepared_xacts AS prepared ON prepared.transaction = held.transactionid
WHERE locked.id = $1::bigint
ORDER BY member.mode = 'keysh'
LIMIT 1
