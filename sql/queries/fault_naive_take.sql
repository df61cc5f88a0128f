-- The second half of a claim that looks and then takes: nobody asks whether the job is
-- another's by now.
--   $1 id   $2 owner   $3 lease in seconds
-- Rows: its id, whoever else has changed it before. Index: primary key.
UPDATE leasetop.jobs
SET status = 'processing',
    locked_at = pg_catalog.now(),
    locked_by = $2::text,
    lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
    attempts = attempts + 1,
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
RETURNING id
