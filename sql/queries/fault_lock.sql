-- Takes the lock by which others know that whoever broke something lives, and heals it.
--   $1 the lock's name
-- One row: whether it was had. It is the session's, until that ends or fault_unlock.sql.
SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))
