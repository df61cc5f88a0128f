-- What a stretch of the dead letters died of: how many in each group, and when.
--   $1 the queue, if it is one, else NULL   $2, $3, $4 after this queue, died_at and id
--   $5, $6, $7 up to and with these   $8 no deaths before this, NULL for any
--   $9 what else they must be: a jsonpath predicate on leasetop.facts, NULL for nothing
--   $10 whether that looks at payloads
--   $11 where the stretches of time begin in which they are counted, ascending; what died
--   before the first counts there
-- Rows: true, a queue, kind and fingerprint, which of the stretches, from 0, how many died so
-- then, the first and the last death, and the id of the one that died last; and one row
-- with false for all that are not what they must be. Index: jobs_dead, from the one place
-- to the other. The last of a group is found by its death in microseconds, and then its id.
-- A comparison of rows ends a reading of the index only where its first column is beyond:
-- within a queue it must not be the queue.
SELECT found, CASE WHEN found THEN pg_catalog.left(queue, 300) ELSE '' END, CASE WHEN found THEN pg_catalog.left(kind, 300) ELSE '' END, CASE WHEN found THEN coalesce(fingerprint, '') ELSE '' END,
  CASE WHEN found THEN greatest(pg_catalog.width_bucket(died_at, $11::timestamptz[]), 1) - 1 ELSE 0 END,
  pg_catalog.count(*), pg_catalog.min(died_at), pg_catalog.max(died_at), (pg_catalog.max(ARRAY[(pg_catalog.date_part('epoch', greatest(least(died_at, '9999-12-31'::timestamptz), '0001-01-01'::timestamptz)) * 1000000::float8)::bigint, id]))[2]
FROM (
  SELECT queue, kind, fingerprint, died_at, id,
    ($9::jsonpath IS NULL OR leasetop.facts(jobs, $10::boolean) @@ $9::jsonpath) IS TRUE AS found
  FROM leasetop.jobs
  WHERE status IN ('failed', 'dead')
    AND ($1::text IS NULL OR queue = $1::text AND (died_at, id) > ($3::timestamptz, $4::bigint) AND (died_at, id) <= ($6::timestamptz, $7::bigint))
    AND ($1::text IS NOT NULL OR (queue, died_at, id) > ($2::text, $3::timestamptz, $4::bigint) AND (queue, died_at, id) <= ($5::text, $6::timestamptz, $7::bigint))
    AND ($8::timestamptz IS NULL OR died_at >= $8::timestamptz)
  OFFSET 0) AS looked
GROUP BY 1, 2, 3, 4, 5
