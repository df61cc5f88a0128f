-- Whether the stream can be had. Asked on the replication connection itself, by the
-- simple protocol.
-- No parameters, one row: wal_level, standby, the table's oid (0 without
-- one), publication missing.
SELECT current_setting('wal_level'),
  pg_is_in_recovery(),
  coalesce(to_regclass('leasetop.jobs')::oid, 0),
  NOT EXISTS (SELECT FROM pg_publication_tables
    WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
