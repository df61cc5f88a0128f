-- Gives back what life_lock.sql took.
--   $1 the lock's name, the same whatever the schema
-- One row: whether it was held.
SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended($1::text, 0))
