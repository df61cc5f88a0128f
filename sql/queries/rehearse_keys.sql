-- The idempotency keys that some dead letters would take if they were redriven now.
--   $1 ids, each once
-- Rows: id, queue and key, in the order of the ids; none for jobs without a key, whose key a
-- live job has, or that are no dead letters. Indexes: primary key, jobs_idempotency.
SELECT id, queue, idempotency_key
FROM leasetop.jobs
JOIN pg_catalog.unnest($1::bigint[]) WITH ORDINALITY AS named(named, position) ON named = id
WHERE id = ANY ($1::bigint[])
  AND died_at IS NOT NULL
  AND idempotency_key IS NOT NULL
  AND NOT EXISTS (
    SELECT FROM leasetop.jobs AS live
    WHERE live.queue = jobs.queue
      AND live.idempotency_key = jobs.idempotency_key
      AND live.status IN ('pending', 'processing'))
ORDER BY position
