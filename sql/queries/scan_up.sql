-- Jobs of a stretch of the table, oldest id first, without payload and history. However
-- few it finds, it looks at no more than it was told.
--   $1 queue, NULL for all   $2 statuses, NULL for all   $3 of the pending: true the due, false the others, NULL all
--   $4 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $5 whether that looks at payloads   $6 ids above this one   $7 how many to find   $8 how many to look at
-- Rows: the jobs, one more than was asked for if there is; the first and the last that
-- were looked at, also when they are none of them (found is false): how far it looked.
-- n counts what was looked at, more says whether there is a row beyond. Index: the primary key.
SELECT n, found, more, id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''), coalesce(fingerprint, ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''),
  died_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM (
  SELECT *, pg_catalog.row_number() OVER way AS n, pg_catalog.lead(id) OVER way IS NOT NULL AS more,
    ($1::text IS NULL OR queue = $1::text)
      AND ($2::text[] IS NULL OR status = ANY ($2::text[]))
      AND ($3::boolean IS NULL OR status <> 'pending' OR (run_at <= pg_catalog.now()) = $3::boolean)
      AND ($4::jsonpath IS NULL OR (leasetop.facts(jobs, $5::boolean) @@ $4::jsonpath) IS TRUE) AS found
  FROM leasetop.jobs
  WHERE id > $6::bigint
  WINDOW way AS (ORDER BY id)
  ORDER BY id
  LIMIT $8::bigint) AS looked
WHERE found OR n = 1 OR n = $8::bigint OR NOT more
ORDER BY id
LIMIT $7::bigint + 2
