-- Renews the heartbeat of a play. Only who has the play's lock does it: see life_lock.sql.
--   $1 the play's name
-- Rows affected: 1; 0 when another play took this one for dead and removed what it had.
UPDATE leasetop.scenario_runs SET beat = pg_catalog.clock_timestamp() WHERE run = $1::text
