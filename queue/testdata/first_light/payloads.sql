-- The payloads of some jobs, for exports: lists leave them out.
--   $1 ids
-- Rows: id and payload of each job that exists. Index: primary key.
SELECT id, payload::text
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
