-- Enters the effect of a demonstration's job in its ledger.
--   $1 job id   $2 what was done   $3 attempt   $4 owner
-- Rows affected: 1.
INSERT INTO leasetop.demo_ledger (job_id, effect, attempt, owner)
VALUES ($1::bigint, $2::text, $3::int, $4::text)
