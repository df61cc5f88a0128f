-- Ends the sessions that wait for wake-ups, as a pooler or a server that is cleaned up
-- by hand does. Their workers are told nothing else.
--   $1 the application names of these sessions
-- Rows: the process of each session that was told to end.
-- They are chosen first, and only then ended: as conditions of one WHERE the planner puts
-- the cheapest first, which of several names is pg_terminate_backend, for all sessions.
WITH listening AS MATERIALIZED (
  SELECT pid
  FROM pg_catalog.pg_stat_activity
  WHERE datname = pg_catalog.current_database() AND application_name = ANY ($1::text[]))
SELECT pid FROM listening WHERE pg_catalog.pg_terminate_backend(pid)
