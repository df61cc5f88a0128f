-- Adds jobs that are due at once.
--   $1 queue   $2 how many
-- Rows affected: as many.
INSERT INTO leasetop.jobs (queue)
SELECT $1::text FROM pg_catalog.generate_series(1, $2::int)
