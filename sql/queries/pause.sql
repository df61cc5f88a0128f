-- Pauses queues: leasetop's claims leave them alone, what is running goes on. The
-- trigger on queues tells the workers. One that is paused already stays as it is.
--   $1 queues   $2 who   $3 why
-- Rows: the queues that were not paused before. Index: primary key.
INSERT INTO leasetop.queues AS q (queue, paused_at, paused_by, paused_why)
SELECT DISTINCT queue, pg_catalog.now(), $2::text, $3::text
FROM pg_catalog.unnest($1::text[]) AS wanted(queue)
ORDER BY queue
ON CONFLICT (queue) DO UPDATE
SET paused_at = excluded.paused_at, paused_by = excluded.paused_by, paused_why = excluded.paused_why
WHERE q.paused_at IS NULL
RETURNING queue
