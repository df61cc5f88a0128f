-- How many sessions of one kind have a transaction open, and do nothing.
--   $1 their application name
-- One row.
SELECT pg_catalog.count(*)
FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database()
  AND application_name = $1::text
  AND state = 'idle in transaction'
