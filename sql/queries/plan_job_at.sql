-- Which job of a plan stands at a position.
--   $1 plan   $2 position
-- Rows: its id. Index: primary key.
SELECT job_id
FROM leasetop.redrive_jobs
WHERE plan = $1::bigint
  AND position = $2::bigint
