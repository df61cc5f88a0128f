-- One discarded job, whole; texts are cut as in get.sql.
--   $1 id   $2 how many characters of the payload's text; NULL for all of it
-- Rows: the columns of get.sql, then who discarded it, when and why; none when the
-- archive has no such job. Index: primary key.
SELECT id, pg_catalog.left(queue, 300), pg_catalog.left(kind, 300), CASE WHEN $2::int IS NULL THEN payload::text ELSE pg_catalog.left(payload::text, $2::int) END, pg_catalog.length(payload::text), status, attempts, max_attempts, run_at,
  NULL::timestamptz, '', NULL::timestamptz, coalesce(CASE WHEN pg_catalog.octet_length(last_error) > 80000 THEN pg_catalog.left(last_error, 20000) || '… (' || pg_catalog.octet_length(last_error)::text || ' bytes in all)' ELSE last_error END, ''),
  CASE WHEN pg_catalog.jsonb_typeof(errors) <> 'array' THEN '[]'::jsonb WHEN pg_catalog.octet_length(errors::text) <= 100000 THEN errors
    ELSE coalesce((
      SELECT pg_catalog.jsonb_agg(CASE
          WHEN pg_catalog.octet_length(entry::text) <= 16384 THEN entry
          WHEN pg_catalog.jsonb_typeof(entry) <> 'object' THEN pg_catalog.to_jsonb(pg_catalog.left(entry::text, 2000) || '…'::text)
          ELSE pg_catalog.jsonb_build_object(
            'attempt', CASE WHEN pg_catalog.octet_length(entry ->> 'attempt'::text) <= 20 THEN entry -> 'attempt'::text END,
            'at', CASE WHEN pg_catalog.octet_length(entry ->> 'at'::text) <= 40 THEN entry -> 'at'::text END,
            'worker', pg_catalog.left(entry ->> 'worker'::text, 1000), 'outcome', pg_catalog.left(entry ->> 'outcome'::text, 100),
            'error', pg_catalog.left(entry ->> 'error'::text, 20000) || '… (' || pg_catalog.octet_length(entry ->> 'error'::text)::text || ' bytes in all)') END ORDER BY n)
      FROM (SELECT * FROM pg_catalog.jsonb_array_elements(errors) WITH ORDINALITY AS listed(entry, n) ORDER BY n DESC LIMIT 100) AS newest), '[]'::jsonb) END,
  coalesce(leasetop.fingerprint(last_error), ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''), updated_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), ''),
  archived_at, pg_catalog.left(archived_by, 1000), pg_catalog.left(archived_why, 10000)
FROM leasetop.jobs_archive
WHERE id = $1::bigint
