-- Adds jobs to a plan, in their order.
--   $1 plan   $2 how many it has   $3 ids, none of them in it
-- Rows: none.
INSERT INTO leasetop.redrive_jobs (plan, position, job_id)
SELECT $1::bigint, $2::bigint + position, id
FROM pg_catalog.unnest($3::bigint[]) WITH ORDINALITY AS added(id, position)
