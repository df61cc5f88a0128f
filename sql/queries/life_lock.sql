-- Takes the lock by which others know that whoever made or broke something here lives, and
-- takes it away again; or that it does not.
--   $1 the lock's name, the same whatever the schema
-- One row: whether it was had. It is the session's, until that ends or life_unlock.sql.
SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended($1::text, 0))
