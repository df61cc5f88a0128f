-- Jobs whose statuses have an index of their own, by id, without payload and history, if
-- there are not too many of them: no index has them in the order of their ids.
--   $1 queue, NULL for all   $2 statuses, none of them completed   $3 of the pending: true the due, false the others, NULL all
--   $4 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $5 whether that looks at payloads
--   $6, $7 ids above the one and below the other   $8 true: the lowest, oldest first; false: the highest, newest first
--   $9 how many to find   $10 how many are too many
-- Rows: the jobs, one more than was asked for if there is; or one with found = false when
-- there are too many. Indexes: jobs_ready, once for each queue with pending jobs,
-- jobs_active and jobs_dead; the primary key for those that are returned.
WITH RECURSIVE pending_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status = 'pending' AND ($1::text IS NULL OR queue = $1::text) ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status = 'pending' AND jobs.queue > pending_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM pending_queues WHERE pending_queues.queue IS NOT NULL AND $1::text IS NULL
),
indexed(id, status) AS MATERIALIZED (
  SELECT * FROM (
    (SELECT pending.id, 'pending'
     FROM pending_queues CROSS JOIN LATERAL (
       SELECT id FROM leasetop.jobs
       WHERE jobs.queue = pending_queues.queue AND status = 'pending'
         AND ($3::boolean IS NULL OR (run_at <= pg_catalog.now()) = $3::boolean)
       ORDER BY jobs.queue, run_at, id
       LIMIT $10::bigint) AS pending
     WHERE 'pending' = ANY ($2::text[]))
    UNION ALL
    (SELECT id, status FROM leasetop.jobs
     WHERE status = 'processing' AND ($1::text IS NULL OR queue = $1::text) AND 'processing' = ANY ($2::text[])
     ORDER BY queue, id
     LIMIT $10::bigint)
    UNION ALL
    (SELECT id, status FROM leasetop.jobs
     WHERE status IN ('failed', 'dead') AND ($1::text IS NULL OR queue = $1::text) AND ARRAY['failed', 'dead'] OPERATOR(pg_catalog.&&) $2::text[]
     ORDER BY queue, died_at, id
     LIMIT $10::bigint)) AS every
  LIMIT $10::bigint
),
page(id, found) AS (
  (SELECT id, true
   FROM (
     SELECT id FROM indexed
     WHERE (SELECT pg_catalog.count(*) FROM indexed) < $10::bigint
       AND status = ANY ($2::text[]) AND id > $6::bigint AND id < $7::bigint
     ORDER BY CASE WHEN $8::boolean THEN id ELSE -id END) AS ordered
   WHERE $4::jsonpath IS NULL OR (SELECT leasetop.facts(jobs, $5::boolean) @@ $4::jsonpath FROM leasetop.jobs WHERE jobs.id = ordered.id)
   ORDER BY CASE WHEN $8::boolean THEN id ELSE -id END
   LIMIT $9::bigint + 1)
  UNION ALL
  SELECT pg_catalog.max(id), false FROM indexed HAVING pg_catalog.count(*) >= $10::bigint
)
SELECT 0::bigint, found, false, id, pg_catalog.left(jobs.queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''), coalesce(fingerprint, ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''),
  died_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM page JOIN leasetop.jobs USING (id)
ORDER BY CASE WHEN $8::boolean THEN id ELSE -id END
