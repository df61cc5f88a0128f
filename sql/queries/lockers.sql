-- Who has rows of jobs locked.
--   $1 ids
-- Rows: for each job whose row one transaction has locked: id, process id (0: a prepared
-- transaction), the name that was prepared, application, user, and for how many seconds the
-- transaction has been open, NULL when the role may not know. xmax is that transaction, or
-- one that has ended and holds no lock. Index: primary key.
SELECT locked.id, coalesce(held.pid, 0)::bigint, coalesce(prepared.gid, ''), coalesce(session.application_name, ''),
  coalesce(session.usename, prepared.owner, '')::text,
  extract(epoch FROM pg_catalog.clock_timestamp() - coalesce(session.xact_start, prepared.prepared))::float8
FROM leasetop.jobs AS locked
JOIN pg_catalog.pg_locks AS held ON held.locktype = 'transactionid' AND held.transactionid = locked.xmax AND held.granted AND held.mode = 'ExclusiveLock'
LEFT JOIN pg_catalog.pg_stat_activity AS session ON session.pid = held.pid
LEFT JOIN pg_catalog.pg_prepared_xacts AS prepared ON prepared.transaction = held.transactionid
WHERE locked.id = ANY ($1::bigint[])
