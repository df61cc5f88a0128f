-- Deletes what edits of these jobs replaced.
--   $1 ids of the jobs
-- No rows. Index: originals_of_job.
DELETE FROM leasetop.originals
WHERE job_id = ANY ($1::bigint[])
