-- Takes the snapshot that a transaction at REPEATABLE READ keeps to its end: no row
-- version that it could still see is removed meanwhile, from any table of the database.
-- No parameters, one row: which transactions it sees.
SELECT pg_catalog.pg_current_snapshot()::text
