-- How many seconds until the earliest lease runs out among those that have not.
--   $1 queues, NULL for all   $2 ids to pass over, as reclaims do
-- One row; NULL when there is none in processing. Index: jobs_active.
SELECT extract(epoch FROM pg_catalog.min(lease_expires_at) - pg_catalog.clock_timestamp())::float8
FROM leasetop.jobs
WHERE status = 'processing'
  AND lease_expires_at >= pg_catalog.clock_timestamp()
  AND lease_expires_at < 'infinity' -- of which nothing can be subtracted
  AND ($1::text[] IS NULL OR queue = ANY ($1::text[]))
  AND id <> ALL ($2::bigint[])
