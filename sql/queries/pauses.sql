-- The queues that are paused, by name, with since when, by whom and why.
-- Read whole: a row for each queue that was ever set up.
SELECT queue, paused_at, paused_by, coalesce(paused_why, '')
FROM leasetop.queues
WHERE paused_at IS NOT NULL
ORDER BY queue
