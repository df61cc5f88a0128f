-- How many sessions of one kind wait at this moment until another transaction lets go of a
-- row. They may wait for other locks too, such as that for more room in a table: no way to
-- claim is the cause of that.
--   $1 their application name
-- One row: those that wait; those there are.
SELECT pg_catalog.count(*) FILTER (WHERE wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')), pg_catalog.count(*)
FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database()
  AND application_name = $1::text
