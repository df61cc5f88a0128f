-- The expired leases that a reclaim would take back now. It is asked after a reclaim was
-- refused because of one of them.
--   $1 limit   $2 queues, NULL for all   $3 ids to pass over
-- Rows: the ids, lowest first; those that others have locked are not counted. Index: jobs_active.
SELECT id
FROM leasetop.jobs
WHERE status = 'processing' AND lease_expires_at < pg_catalog.now()
  AND ($2::text[] IS NULL OR queue = ANY ($2::text[]))
  AND id <> ALL ($3::bigint[])
ORDER BY id
LIMIT $1::int
FOR NO KEY UPDATE SKIP LOCKED
