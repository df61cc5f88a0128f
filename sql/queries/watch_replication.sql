-- Whether the stream can be had. Asked on the replication connection itself, by the
-- simple protocol.
-- No parameters, one row: wal_level, standby, the table's oid (0 without one), publication
-- missing, publication that leaves out some changes or rows, its columns as JSON (new in 15),
-- the text that changes with it: see watch_server.sql; whether row-level security hides
-- rows from the role, the replica identity.
WITH published AS (
  SELECT to_jsonb(published) AS of, pubinsert AND pubupdate AND pubdelete AND pubtruncate AS every
  FROM pg_publication_tables AS published JOIN pg_publication USING (pubname)
  WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
SELECT current_setting('wal_level'),
  pg_is_in_recovery(),
  coalesce(to_regclass('leasetop.jobs')::oid, 0),
  NOT EXISTS (SELECT FROM published),
  NOT EXISTS (SELECT FROM published WHERE every AND of ->> 'rowfilter' IS NULL),
  coalesce((SELECT of ->> 'attnames' FROM published), ''),
  coalesce((SELECT string_agg(mark, ' ' ORDER BY mark) FROM (
    SELECT format('%s:%s', oid, xmin) AS mark FROM pg_publication WHERE pubname = 'leasetop_jobs'
    UNION ALL
    SELECT format('%s:%s', part.oid, part.xmin)
    FROM pg_publication_rel AS part JOIN pg_publication ON pg_publication.oid = prpubid
    WHERE pubname = 'leasetop_jobs') AS marks), ''),
  coalesce(row_security_active(to_regclass('leasetop.jobs')), false),
  coalesce((SELECT relreplident::text FROM pg_class WHERE oid = to_regclass('leasetop.jobs')), '')
