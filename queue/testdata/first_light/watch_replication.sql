-- Whether the stream can be had. Asked on the replication connection itself, by the
-- simple protocol.
-- No parameters, one row: wal_level, standby, table missing, publication missing.
SELECT current_setting('wal_level'),
  pg_is_in_recovery(),
  to_regclass('leasetop.jobs') IS NULL,
  NOT EXISTS (SELECT FROM pg_publication_tables
    WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
