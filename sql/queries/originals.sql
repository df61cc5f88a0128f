-- The payloads that edits of a job replaced.
--   $1 id of the job
-- Rows: when each was replaced, by whom and why, and the payload's text; oldest first.
-- Index: originals_of_job.
SELECT at, pg_catalog.left(by_whom, 1000), pg_catalog.left(reason, 10000), payload::text
FROM leasetop.originals
WHERE job_id = $1::bigint
ORDER BY id
