-- How many sessions of one kind wait for a lock at this moment.
--   $1 their application name
-- One row: those that wait; those there are.
SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*)
FROM pg_stat_activity
WHERE datname = current_database()
  AND application_name = $1::text
