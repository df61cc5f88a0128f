-- Whether the stream can be had. Asked on the replication connection itself, by the
-- simple protocol.
-- No parameters, one row: wal_level, standby, the table's oid (0 without one), publication
-- missing, publication that leaves out some changes or rows, its columns as JSON (new in 15),
-- the text that changes with it: see watch_server.sql; whether row-level security hides
-- rows from the role, the replica identity.
WITH published AS (
  SELECT pg_catalog.to_jsonb(published) AS of, pubinsert AND pubupdate AND pubdelete AND pubtruncate AS every
  FROM pg_catalog.pg_publication_tables AS published JOIN pg_catalog.pg_publication USING (pubname)
  WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
SELECT pg_catalog.current_setting('wal_level'),
  pg_catalog.pg_is_in_recovery(),
  coalesce(pg_catalog.to_regclass('leasetop.jobs')::oid, 0),
  NOT EXISTS (SELECT FROM published),
  NOT EXISTS (SELECT FROM published WHERE every AND of ->> 'rowfilter' IS NULL),
  coalesce((SELECT of ->> 'attnames' FROM published), ''),
  coalesce((SELECT pg_catalog.string_agg(mark, ' ' ORDER BY mark) FROM (
    SELECT pg_catalog.format('%s:%s', oid, xmin) AS mark FROM pg_catalog.pg_publication WHERE pubname = 'leasetop_jobs'
    UNION ALL
    SELECT pg_catalog.format('%s:%s', part.oid, part.xmin)
    FROM pg_catalog.pg_publication_rel AS part JOIN pg_catalog.pg_publication ON pg_publication.oid = prpubid
    WHERE pubname = 'leasetop_jobs') AS marks), ''),
  coalesce(pg_catalog.row_security_active(pg_catalog.to_regclass('leasetop.jobs')), false),
  coalesce((SELECT relreplident::text FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('leasetop.jobs')::oid), '')
