-- What sessions wait for, and who has it.
--   $1 process ids of the sessions
-- Rows: at most one: the kind of lock, as pg_locks names it; the table, '' when that is not
-- known, as of a key; whether it is held (else the other waits too, and is first in line);
-- and who, as lockers.sql has it.
SELECT waits.locktype, coalesce(c.relname::text, ''),
  waits.locktype <> 'relation' OR EXISTS (
    SELECT FROM pg_catalog.pg_locks AS held
    WHERE held.pid IS NOT DISTINCT FROM nullif(blocker.pid, 0) AND held.relation = waits.relation AND held.database = waits.database
      AND held.locktype = 'relation' AND held.granted
      AND held.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')),
  blocker.pid::bigint, coalesce(prepared.gid, ''), coalesce(session.application_name, ''),
  coalesce(session.usename, prepared.owner, '')::text,
  extract(epoch FROM pg_catalog.clock_timestamp() - coalesce(session.xact_start, prepared.prepared))::float8
FROM pg_catalog.pg_locks AS waits
CROSS JOIN LATERAL pg_catalog.unnest(pg_catalog.pg_blocking_pids(waits.pid)) AS blocker(pid)
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = coalesce(waits.relation,
  (SELECT mine.relation FROM pg_catalog.pg_locks AS mine WHERE mine.pid = waits.pid AND mine.locktype = 'tuple' AND mine.granted LIMIT 1))
LEFT JOIN pg_catalog.pg_stat_activity AS session ON session.pid = blocker.pid
LEFT JOIN LATERAL (
  SELECT open.gid, open.owner, open.prepared
  FROM pg_catalog.pg_locks AS held
  JOIN pg_catalog.pg_locks AS transaction ON transaction.locktype = 'transactionid' AND transaction.virtualtransaction = held.virtualtransaction
  JOIN pg_catalog.pg_prepared_xacts AS open ON open.transaction = transaction.transactionid
  WHERE blocker.pid = 0 AND held.pid IS NULL AND held.granted AND held.locktype = waits.locktype
    AND (held.relation = waits.relation OR held.transactionid = waits.transactionid)
  LIMIT 1) AS prepared ON true
WHERE waits.pid = ANY ($1::int[])
  AND NOT waits.granted
  AND waits.locktype IN ('relation', 'transactionid', 'tuple')
ORDER BY session.xact_start
LIMIT 1
