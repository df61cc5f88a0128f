-- Whether this database may be broken on purpose: see queue.Demonstration.
--   $1 the setting that marks one, which is called the same whatever the schema
-- One row: the database's name as an identifier; the server's own address
-- of this connection, '' for a socket; whether that is on this machine; whether the
-- database, or the whole server, is marked. Reads no table.
-- A setting that nobody made is NULL, and one of a name with a dot in it has no type: a
-- cast to boolean would fail on a typing error.
SELECT format('%I', current_database()),
  coalesce(host(inet_server_addr()), ''),
  coalesce(inet_server_addr() <<= inet '127.0.0.0/8' OR inet_server_addr() = inet '::1', true),
  coalesce(lower(current_setting($1::text, true)) IN ('on', 'true', 'yes', '1'), false)
