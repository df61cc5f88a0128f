-- How many sessions of one kind have a transaction open, and do nothing.
--   $1 their application name
-- One row.
SELECT count(*)
FROM pg_stat_activity
WHERE datname = current_database()
  AND application_name = $1::text
  AND state = 'idle in transaction'
