-- What the demonstration's ledger says: effects, those beyond the first of a job,
-- and completed jobs of its kinds that had none.
--   $1 the kinds of the demonstration
-- One row. Effects and lost are read in one snapshot; a job's effect commits
-- before its completion, so a running job is never counted as lost.
-- Reads the ledger and the jobs whole: both are kept small by demo_prune.sql.
SELECT
  (SELECT pg_catalog.count(*) FROM leasetop.demo_ledger),
  (SELECT pg_catalog.count(*) - pg_catalog.count(DISTINCT job_id) FROM leasetop.demo_ledger),
  (SELECT pg_catalog.count(*) FROM leasetop.jobs
   WHERE status = 'completed' AND kind = ANY ($1::text[])
     AND NOT EXISTS (SELECT FROM leasetop.demo_ledger WHERE job_id = jobs.id))
