-- Proves that notifications reach a connection, which they do not behind a pooler that
-- shares connections. Sent once for each LISTEN connection.
--   $1 a text by which the sender knows its own
SELECT pg_catalog.pg_notify('leasetop_echo', $1::text)
