-- The queues that are paused, by name, with since when, by whom and why.
-- Read whole: a row for each queue that was ever set up.
SELECT pg_catalog.left(queue, 300), paused_at, pg_catalog.left(paused_by, 1000), coalesce(pg_catalog.left(paused_why, 10000), '')
FROM leasetop.queues
WHERE paused_at IS NOT NULL
ORDER BY queue
