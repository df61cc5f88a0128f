-- Gives back what scenario_lock.sql took.
--   $1 the play's name
-- One row: whether it was held.
SELECT pg_advisory_unlock(hashtextextended('leasetop scenario ' || $1::text, 0))
