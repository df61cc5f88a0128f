-- The database's clock, as it goes on within a transaction.
-- No parameters. One row.
SELECT clock_timestamp()
