-- The oldest open transactions of the cluster: they keep vacuum from removing what died
-- since, hold up the creation of replication slots and, where their session listens,
-- fill the notification queue.
--   $1 how many of this database, and as many of the others
-- Rows, the oldest first: process id (0: a prepared one, of no process), application or
-- the name it was prepared under, user, database, whether that is this one, state, when it
-- began, whether it has written, whether it holds a snapshot now.
-- Those of users whose statistics the role may not see are missing: watch_health.sql
-- counts their sessions. A vacuum by itself is none: it holds up no other.
WITH open AS (
  SELECT pid::bigint AS pid, coalesce(application_name, '') AS name, coalesce(usename, '')::text AS owner,
    coalesce(datname, '')::text AS place, coalesce(state, '') AS state, xact_start AS began,
    backend_xid IS NOT NULL AS writes, backend_xmin IS NOT NULL AS looks
  FROM pg_catalog.pg_stat_activity
  WHERE pid <> pg_catalog.pg_backend_pid() AND xact_start IS NOT NULL AND backend_type IN ('client backend', 'background worker')
  UNION ALL
  SELECT 0, gid, owner::text, database::text, 'prepared', prepared, true, true
  FROM pg_catalog.pg_prepared_xacts)
SELECT pid, name, owner, place, place = pg_catalog.current_database(), state, began, writes, looks
FROM (
  SELECT *, pg_catalog.row_number() OVER (PARTITION BY place = pg_catalog.current_database() ORDER BY began) AS nth
  FROM open) AS ordered
WHERE nth <= $1::int
ORDER BY began, pid
