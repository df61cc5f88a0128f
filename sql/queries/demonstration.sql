-- Whether this database may be broken on purpose: see queue.Demonstration.
--   $1 the setting that marks one, which is called the same whatever the schema
-- One row: the database's name as an identifier; the server's own address
-- of this connection, '' for a socket; whether that is on this machine; whether the
-- database, or the whole server, is marked. Reads no table.
-- A setting that nobody made is NULL, and one of a name with a dot in it has no type: a
-- cast to boolean would fail on a typing error.
SELECT pg_catalog.format('%I', pg_catalog.current_database()),
  coalesce(pg_catalog.host(pg_catalog.inet_server_addr()), ''),
  coalesce(pg_catalog.inet_server_addr() <<= inet '127.0.0.0/8' OR pg_catalog.inet_server_addr() = inet '::1', true),
  coalesce(pg_catalog.lower(pg_catalog.current_setting($1::text, true)) IN ('on', 'true', 'yes', '1'), false)
