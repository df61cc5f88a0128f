-- Takes the lock of life_lock.sql until the transaction ends, to take away what nobody
-- heals any more.
--   $1 the lock's name
-- One row: whether it was had; else whoever broke it lives.
SELECT pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))
