-- Takes the lock by which others know that a play lives, or that it does not.
--   $1 the play's name
-- One row: whether it was had. It is the session's, until that ends or scenario_unlock.sql.
SELECT pg_try_advisory_lock(hashtextextended('leasetop scenario ' || $1::text, 0))
