-- Gives back what fault_lock.sql took.
--   $1 the lock's name
-- One row: whether it was held.
SELECT pg_advisory_unlock(hashtextextended($1::text, 0))
