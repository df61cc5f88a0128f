-- Enters the effect of a play's job in the ledger.
--   $1 the play's name   $2 job id   $3 attempt   $4 owner
-- Rows affected: 1.
INSERT INTO leasetop.scenario_ledger (run, job_id, attempt, owner)
VALUES ($1::text, $2::bigint, $3::int, $4::text)
