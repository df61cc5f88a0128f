-- The transaction for whose end the creation of a replication slot waits the longest:
-- one that has written something, anywhere in the cluster, or a prepared one.
-- No parameters. Rows: at most one: process id (0 for a prepared one), application or
-- name of the prepared transaction, user, when it began.
-- Only members of pg_read_all_stats see those of other users.
SELECT * FROM (
  SELECT pid::bigint, application_name AS name, coalesce(usename::text, '') AS owner, xact_start AS began
  FROM pg_catalog.pg_stat_activity
  WHERE backend_xid IS NOT NULL AND pid <> pg_catalog.pg_backend_pid()
  UNION ALL
  SELECT 0, gid, owner::text, prepared
  FROM pg_catalog.pg_prepared_xacts) AS open
WHERE began IS NOT NULL
ORDER BY began
LIMIT 1
