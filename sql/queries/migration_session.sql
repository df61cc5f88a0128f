-- The session settings that a migration needs, for a session that something has set up
-- otherwise since it began: the program's own hook for new connections, say.
-- No parameters, one row.
SELECT pg_catalog.set_config('client_encoding', 'UTF8', false),
  pg_catalog.set_config('standard_conforming_strings', 'on', false),
  pg_catalog.set_config('datestyle', 'ISO', false),
  pg_catalog.set_config('timezone', 'UTC', false)
