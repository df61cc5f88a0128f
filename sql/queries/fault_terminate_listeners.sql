-- Ends the sessions that wait for wake-ups, as a pooler or a server that is cleaned up
-- by hand does. Their workers are told nothing else.
--   $1 the application names of these sessions
-- Rows: the process of each session that was told to end.
SELECT pid
FROM pg_stat_activity
WHERE datname = current_database()
  AND application_name = ANY ($1::text[])
  AND pg_terminate_backend(pid)
