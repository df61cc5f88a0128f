-- The payloads of some discarded jobs, for exports: lists leave them out.
--   $1 ids
-- Rows: id and payload of each job that the archive has. Index: primary key.
SELECT id, payload::text
FROM leasetop.jobs_archive
WHERE id = ANY ($1::bigint[])
