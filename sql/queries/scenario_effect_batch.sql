-- Enters the effects of many of a play's jobs in the ledger.
--   $1 the play's name   $2 job ids   $3 attempts   $4 owners, of one length
-- Rows affected: as many.
INSERT INTO leasetop.scenario_ledger (run, job_id, attempt, owner)
SELECT $1::text, job_id, attempt, owner
FROM unnest($2::bigint[], $3::int[], $4::text[]) AS done(job_id, attempt, owner)
