-- How long the lease of a play's job has yet, by the database's clock.
--   $1 job id   $2 the attempt it was leased for
-- One row: seconds, negative when it has run out; none when that claim is gone. Index: primary key.
SELECT extract(epoch FROM lease_expires_at - pg_catalog.clock_timestamp())::float8
FROM leasetop.jobs
WHERE id = $1::bigint AND attempts = $2::int AND status = 'processing'
