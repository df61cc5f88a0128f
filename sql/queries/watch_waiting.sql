-- Who waits for the jobs table itself, not for a row of it: somebody wants it alone, as
-- DROP INDEX and most of ALTER TABLE do, and all who come after wait behind that.
-- No parameters. One row: how many sessions wait, and since when the first does; then
-- the session at the head of them all, which waits for nobody: process id (0: a prepared
-- transaction, or nobody waits), application, user, database, state, when its transaction
-- began, whether it has written, whether it holds a snapshot.
-- Reads the lock table, and asks who blocks whom only where somebody waits.
WITH waiting AS (
  SELECT pid, waitstart, pg_catalog.pg_blocking_pids(pid) AS behind
  FROM pg_catalog.pg_locks
  WHERE locktype = 'relation' AND NOT granted AND relation = pg_catalog.to_regclass('leasetop.jobs')::oid
    AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())),
head AS (
  SELECT holder AS pid
  FROM waiting CROSS JOIN LATERAL pg_catalog.unnest(behind) AS holder
  WHERE holder NOT IN (SELECT pid FROM waiting)
  ORDER BY waitstart
  LIMIT 1)
SELECT (SELECT pg_catalog.count(*) FROM waiting), (SELECT pg_catalog.min(waitstart) FROM waiting),
  coalesce(head.pid, 0)::bigint, coalesce(a.application_name, ''), coalesce(a.usename, '')::text, coalesce(a.datname, '')::text,
  coalesce(a.state, ''), a.xact_start, a.backend_xid IS NOT NULL, a.backend_xmin IS NOT NULL
FROM (SELECT) AS one LEFT JOIN head ON true LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = head.pid
