-- Those of a stretch of the dead letters that are what they must be.
--   $1 the queue, if it is one, else NULL   $2, $3, $4 after this queue, died_at and id
--   $5, $6, $7 up to and with these   $8 statuses, NULL for both
--   $9 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $10 whether that looks at payloads
-- Rows: when each died, and its id. Index: jobs_dead, from the one place to the other.
-- A comparison of rows ends a reading of the index only where its first column is beyond:
-- within a queue it must not be the queue.
SELECT died_at, id
FROM leasetop.jobs
WHERE status IN ('failed', 'dead')
  AND ($1::text IS NULL OR queue = $1::text AND (died_at, id) > ($3::timestamptz, $4::bigint) AND (died_at, id) <= ($6::timestamptz, $7::bigint))
  AND ($1::text IS NOT NULL OR (queue, died_at, id) > ($2::text, $3::timestamptz, $4::bigint) AND (queue, died_at, id) <= ($5::text, $6::timestamptz, $7::bigint))
  AND ($8::text[] IS NULL OR status = ANY ($8::text[]))
  AND ($9::jsonpath IS NULL OR leasetop.facts(jobs, $10::boolean) @@ $9::jsonpath)
