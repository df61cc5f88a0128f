-- Lets a session that this program keeps for itself be idle for as long as it likes:
-- idle_session_timeout, which a role or a server may have, is switched off for it. Behind
-- a pooler it is left alone, since it would stay behind on a session that others get.
--   $1 the process id which the connection was told
-- Rows: what holds now, in milliseconds, 0 for no limit; none before PostgreSQL 14, which
-- has no such setting. No table is read.
SELECT CASE
  WHEN setting = '0' THEN setting
  WHEN pg_catalog.pg_backend_pid() = $1::bigint THEN pg_catalog.set_config('idle_session_timeout', '0', false)
  ELSE setting
END
FROM pg_catalog.pg_settings
WHERE name = 'idle_session_timeout'
