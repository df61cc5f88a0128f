-- Deletes one batch of jobs that were discarded long ago, for good.
--   $1 the last id looked at before   $2 age in seconds   $3 queue, NULL for all   $4 how many rows to look at
-- One row: the last id looked at, NULL when the table has come to its end, how many were
-- deleted, and which, and which of those that are old enough were not: locked, or kept by a trigger. Index: primary key. Rows locked elsewhere are left.
WITH looked AS MATERIALIZED (
  SELECT id, archived_at < pg_catalog.now() - pg_catalog.make_interval(secs => $2::float8) AND ($3::text IS NULL OR queue = $3::text) AS old
  FROM leasetop.jobs_archive
  WHERE id > $1::text::bigint
  ORDER BY id
  LIMIT $4::int),
doomed AS (
  SELECT id
  FROM leasetop.jobs_archive
  WHERE id = ANY (ARRAY(SELECT id FROM looked WHERE old))
  ORDER BY id
  FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM leasetop.jobs_archive
  WHERE id = ANY (ARRAY(SELECT id FROM doomed))
  RETURNING id)
SELECT (SELECT pg_catalog.max(id)::text FROM looked), (SELECT pg_catalog.count(*) FROM gone), ARRAY(SELECT id FROM gone),
  ARRAY(SELECT id FROM looked WHERE old EXCEPT ALL SELECT id FROM gone)
