-- Deletes one batch of the keys of effects done long ago. A job that runs again after
-- that would have its effect again.
--   $1 the last key looked at before   $2 age in seconds   $3 NULL: keys have no queue   $4 how many rows to look at
-- One row: the last key looked at, NULL when the table has come to its end, and how many
-- were deleted. Index: primary key. Rows locked elsewhere are left.
WITH looked AS MATERIALIZED (
  SELECT key, done_at
  FROM leasetop.once
  WHERE key > $1::text AND $3::text IS NULL
  ORDER BY key
  LIMIT $4::int),
doomed AS (
  SELECT key
  FROM leasetop.once
  WHERE key = ANY (ARRAY(
      SELECT key
      FROM looked
      WHERE done_at < pg_catalog.now() - pg_catalog.make_interval(secs => $2::float8)))
  ORDER BY key
  FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM leasetop.once
  WHERE key = ANY (ARRAY(SELECT key FROM doomed))
  RETURNING 1)
SELECT (SELECT pg_catalog.max(key) FROM looked), (SELECT pg_catalog.count(*) FROM gone), NULL::bigint[], NULL::bigint[]
