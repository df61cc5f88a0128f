-- One discarded job, whole.
--   $1 id   $2 how many characters of the payload's text; NULL for all of it
-- Rows: the columns of get.sql, then who discarded it, when and why; none when the
-- archive has no such job. Index: primary key.
SELECT id, queue, kind, CASE WHEN $2::int IS NULL THEN payload::text ELSE pg_catalog.left(payload::text, $2::int) END, pg_catalog.length(payload::text), status, attempts, max_attempts, run_at,
  NULL::timestamptz, '', NULL::timestamptz, coalesce(last_error, ''), errors,
  coalesce(leasetop.fingerprint(last_error), ''), coalesce(idempotency_key, ''), updated_at, created_at, updated_at, coalesce(cancelled_by, ''),
  archived_at, archived_by, archived_why
FROM leasetop.jobs_archive
WHERE id = $1::bigint
