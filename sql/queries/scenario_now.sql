-- The database's clock, as it goes on within a transaction.
-- No parameters. One row.
SELECT pg_catalog.clock_timestamp()
