-- How many transactions a slot's snapshot has as committed which PostgreSQL does not yet
-- call so: the snapshot knows from the write-ahead log, which a commit reaches a moment
-- before anything else. Until then their rows look as if they had been rolled back.
--   $1 which transactions ran after the slot was made: see watch_running.sql
-- One row: the count. Run in the slot's snapshot.
SELECT pg_catalog.count(*)
FROM (SELECT number::text::xid8 AS xid FROM pg_catalog.unnest($1::bigint[]) AS running(number)) AS running
WHERE pg_catalog.pg_visible_in_snapshot(xid, pg_catalog.pg_current_snapshot()) AND pg_catalog.pg_xact_status(xid) = 'in progress'
