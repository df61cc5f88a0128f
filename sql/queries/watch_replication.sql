-- Whether the stream can be had. Asked on the replication connection itself, by the
-- simple protocol.
-- No parameters, one row: wal_level, standby, the table's oid (0 without
-- one), publication missing, publication that leaves out some changes or rows.
WITH published AS (
  SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate
    AND to_jsonb(published) ->> 'rowfilter' IS NULL AS whole -- it is new in 15
  FROM pg_publication_tables AS published JOIN pg_publication USING (pubname)
  WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
SELECT current_setting('wal_level'),
  pg_is_in_recovery(),
  coalesce(to_regclass('leasetop.jobs')::oid, 0),
  NOT EXISTS (SELECT FROM published),
  NOT EXISTS (SELECT FROM published WHERE whole)
