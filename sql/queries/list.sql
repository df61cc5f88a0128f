-- Jobs, newest id first, without payload and history.
--   $1 queue, NULL for all   $2 statuses, NULL for all   $3 of the pending: true the due, false the others, NULL all
--   $4 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $5 whether that looks at payloads   $6 ids below this one   $7 limit
-- Rows: the page. Index: the primary key backwards, or the partial index of a rare status.
SELECT id, queue, kind, status, attempts, max_attempts, run_at, locked_at, coalesce(locked_by, ''),
  lease_expires_at, coalesce(pg_catalog.left(last_error, 1000), ''), coalesce(fingerprint, ''), coalesce(idempotency_key, ''),
  died_at, created_at, updated_at, coalesce(cancelled_by, '')
FROM leasetop.jobs
WHERE ($1::text IS NULL OR queue = $1::text)
  AND ($2::text[] IS NULL OR status = ANY ($2::text[]))
  AND ($3::boolean IS NULL OR status <> 'pending' OR (run_at <= pg_catalog.now()) = $3::boolean)
  AND ($4::jsonpath IS NULL OR leasetop.facts(jobs, $5::boolean) @@ $4::jsonpath)
  AND id < $6::bigint
ORDER BY id DESC
LIMIT $7::int
