-- What a redrive of some jobs would find, by what they died of.
--   $1 ids, each once   $2 those of them whose idempotency key one named before them takes
-- Rows: queue, kind, fingerprint; how many would be redriven and how many skipped for their
-- idempotency key; when the first and the last of both died, the id of the last one and the
-- first 1,000 characters of its error. Jobs that are no dead letters are in no row. Indexes: primary key, jobs_idempotency.
WITH dead AS MATERIALIZED (
  SELECT id, queue, kind, coalesce(fingerprint, '') AS fingerprint, died_at,
    id = ANY ($2::bigint[]) OR idempotency_key IS NOT NULL AND EXISTS (
      SELECT FROM leasetop.jobs AS live
      WHERE live.queue = jobs.queue
        AND live.idempotency_key = jobs.idempotency_key
        AND live.status IN ('pending', 'processing')) AS in_use
  FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND died_at IS NOT NULL),
grouped AS (
  SELECT queue, kind, fingerprint, pg_catalog.count(*) FILTER (WHERE NOT in_use) AS free, pg_catalog.count(*) FILTER (WHERE in_use) AS in_use,
    pg_catalog.min(died_at) AS first, pg_catalog.max(died_at) AS last, (pg_catalog.array_agg(id ORDER BY died_at DESC, id DESC))[1] AS sample
  FROM dead
  GROUP BY queue, kind, fingerprint)
SELECT pg_catalog.left(grouped.queue, 300), pg_catalog.left(grouped.kind, 300), grouped.fingerprint, free, in_use, first, last, sample, coalesce(pg_catalog.left(nullif(pg_catalog.ltrim(pg_catalog.left(last_error, 20000), E' \t\r\n'::text), ''::text), 1000), pg_catalog.left(last_error, 1), '')
FROM grouped
JOIN leasetop.jobs ON jobs.id = sample
