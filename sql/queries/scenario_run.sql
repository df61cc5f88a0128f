-- Enters a play before it makes jobs, so that they are found should it be killed.
--   $1 the play's name
-- Rows affected: 1.
INSERT INTO leasetop.scenario_runs (run) VALUES ($1::text)
