-- A stretch of the dead letters, newest death first, without payload and history. However
-- few it finds, it looks at no more than it was told.
--   $1 queues, NULL for all   $2, $3 cursor: died_at and id of the last row seen
--   $4 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $5 whether that looks at payloads   $6 how many to find   $7 how many to look at
-- Rows: the dead letters, one more than was asked for if there is; the last one that was
-- looked at, also when it is none of them (found is false): how far it looked. n counts
-- what was looked at, more says whether there is a row beyond.
-- Index: jobs_dead, which has them by queue. The queues are found by skipping from one to
-- the next, and of each no more is read than its share of 100,000 entries, and one more:
-- beyond the newest such entry nothing is certain, for that queue may have more between
-- it and what the others have. So a stretch may be shorter than it was told, where there
-- are very many queues, but it is whole. Only what is looked at is read from the table.
WITH RECURSIVE skipped(queue) AS (
  (SELECT queue FROM leasetop.jobs WHERE status IN ('failed', 'dead') AND $1::text[] IS NULL ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > skipped.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM skipped WHERE skipped.queue IS NOT NULL
),
dead_queues(queue) AS (
  SELECT queue FROM skipped WHERE queue IS NOT NULL
  UNION
  SELECT pg_catalog.unnest($1::text[])
),
newest AS MATERIALIZED (
  SELECT head.queue, greatest(100000 / least(pg_catalog.count(*) OVER (), $7::bigint + 1), 1) AS share
  FROM dead_queues CROSS JOIN LATERAL (
    SELECT jobs.queue, died_at, id FROM leasetop.jobs
    WHERE jobs.queue = dead_queues.queue
      AND status IN ('failed', 'dead')
      AND (died_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY jobs.queue DESC, died_at DESC, id DESC
    LIMIT 1) AS head
  ORDER BY head.died_at DESC, head.id DESC
  LIMIT $7::bigint + 1
),
looked AS (
  SELECT died_at, id, pg_catalog.row_number() OVER way AS n, pg_catalog.lead(id) OVER way IS NOT NULL AS more,
    pg_catalog.bool_or(uncertain) OVER way AS uncertain, coalesce(pg_catalog.lead(uncertain) OVER way, true) AS ends
  FROM newest CROSS JOIN LATERAL (
    SELECT died_at, id, pg_catalog.row_number() OVER (ORDER BY jobs.queue DESC, died_at DESC, id DESC) > share AS uncertain
    FROM leasetop.jobs
    WHERE jobs.queue = newest.queue
      AND status IN ('failed', 'dead')
      AND (died_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY jobs.queue DESC, died_at DESC, id DESC
    LIMIT least($7::bigint, share) + 1) AS entries
  WINDOW way AS (ORDER BY died_at DESC, id DESC)
  ORDER BY died_at DESC, id DESC
  LIMIT $7::bigint
)
SELECT n, found, more, jobs.id, pg_catalog.left(jobs.queue, 300), pg_catalog.left(kind, 300), status, attempts, max_attempts, run_at, locked_at, CASE WHEN pg_catalog.octet_length(locked_by) > 8192 THEN pg_catalog.left(locked_by, 200) || '… (' || pg_catalog.octet_length(locked_by)::text || ' bytes)' ELSE coalesce(locked_by, '') END,
  lease_expires_at, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), ''), coalesce(fingerprint, ''), coalesce(pg_catalog.left(idempotency_key, 1024), ''),
  jobs.died_at, created_at, updated_at, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM (
  SELECT *, ends OR n = $7::bigint AS last
  FROM looked
  WHERE NOT uncertain) AS certain
CROSS JOIN LATERAL (
  SELECT jobs.*, ($4::jsonpath IS NULL OR leasetop.facts(jobs, $5::boolean) @@ $4::jsonpath) IS TRUE AS found
  FROM leasetop.jobs
  WHERE jobs.id = certain.id) AS jobs
WHERE found OR last
ORDER BY certain.died_at DESC, certain.id DESC
LIMIT $6::bigint + 2
