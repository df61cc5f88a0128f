-- How far the write-ahead log goes: a stream that has read so far has caught up.
-- No parameters. One row: the position.
SELECT pg_catalog.pg_current_wal_flush_lsn()
