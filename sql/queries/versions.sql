-- The versions of these rows, to see whether a job was changed since the server refused to.
--   $1 ids
-- Rows: id and version of each job that exists. Index: primary key.
SELECT id, xmin::text
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
