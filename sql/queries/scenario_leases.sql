-- The leases of a play.
--   $1 its queues
-- Rows: job id, owner, attempt, seconds until it runs out (negative: it has). The first 400
-- by id. Index: jobs_active.
SELECT id, locked_by, attempts, extract(epoch FROM lease_expires_at - pg_catalog.clock_timestamp())::float8
FROM leasetop.jobs
WHERE status = 'processing' AND queue = ANY ($1::text[])
ORDER BY id
LIMIT 400
