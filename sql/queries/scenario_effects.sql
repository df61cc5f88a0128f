-- The effects of some of a play's jobs, in the order in which they were entered.
--   $1 the play's name   $2 job ids
-- Rows: job id, attempt, owner. Index: scenario_ledger_job.
SELECT job_id, attempt, owner
FROM leasetop.scenario_ledger
WHERE run = $1::text AND job_id = ANY ($2::bigint[])
ORDER BY done_at, job_id
