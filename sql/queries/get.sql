-- One job, whole.
--   $1 id   $2 how many characters of the payload's text; NULL for all of it
-- Rows: the job; none when there is no such job. Index: primary key.
SELECT id, queue, kind, CASE WHEN $2::int IS NULL THEN payload::text ELSE pg_catalog.left(payload::text, $2::int) END, pg_catalog.length(payload::text), status, attempts, max_attempts, run_at,
  locked_at, coalesce(locked_by, ''), lease_expires_at, coalesce(last_error, ''), errors,
  coalesce(fingerprint, ''), coalesce(idempotency_key, ''), died_at, created_at, updated_at, coalesce(cancelled_by, '')
FROM leasetop.jobs
WHERE id = $1::bigint
