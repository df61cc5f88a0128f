-- Jobs, newest id first, without payload and history.
--   $1 queue, NULL for all   $2 statuses, NULL for all   $3 of the pending: true the due, false the others, NULL all
--   $4 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $5 whether that looks at payloads   $6 ids below this one   $7 limit
-- Rows: the page. Index: the primary key backwards, or the partial index of a rare status.
SELECT id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''), coalesce(fingerprint, ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''),
  died_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM leasetop.jobs
WHERE ($1::text IS NULL OR queue = $1::text)
  AND ($2::text[] IS NULL OR status = ANY ($2::text[]))
  AND ($3::boolean IS NULL OR status <> 'pending' OR (run_at <= pg_catalog.now()) = $3::boolean)
  AND ($4::jsonpath IS NULL OR leasetop.facts(jobs, $5::boolean) @@ $4::jsonpath)
  AND id < $6::bigint
ORDER BY id DESC
LIMIT $7::int
