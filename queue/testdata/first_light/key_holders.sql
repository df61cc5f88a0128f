-- The live jobs that hold idempotency keys.
--   $1 queues   $2 keys, of one length
-- Rows: queue, key, id. Index: jobs_idempotency.
SELECT jobs.queue, jobs.idempotency_key, jobs.id
FROM unnest($1::text[], $2::text[]) AS wanted(queue, key)
JOIN leasetop.jobs ON jobs.queue = wanted.queue AND jobs.idempotency_key = wanted.key
WHERE jobs.status IN ('pending', 'processing') AND jobs.idempotency_key IS NOT NULL
