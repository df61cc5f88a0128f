-- Where the live feed is connected, whether the table is there and may be changed,
-- the database's clock, how far its write-ahead log is written, and what is published.
-- No parameters, one row: version, user, database, read-only, the table's oid (0 without
-- one), clock, position, a text that changes whenever somebody changes the publication.
-- Reads no table: cheap enough to be asked with every poll, so that a promotion, a
-- GRANT or a migration shows by itself.
SELECT pg_catalog.current_setting('server_version'),
  current_user::text,
  pg_catalog.current_database()::text,
  pg_catalog.pg_is_in_recovery()
    OR pg_catalog.current_setting('transaction_read_only')::bool
    OR NOT coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass('leasetop.jobs'), 'UPDATE'), true),
  coalesce(pg_catalog.to_regclass('leasetop.jobs')::oid, 0),
  pg_catalog.clock_timestamp(),
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END,
  coalesce((SELECT pg_catalog.string_agg(mark, ' ' ORDER BY mark) FROM (
    SELECT pg_catalog.format('%s:%s', oid, xmin) AS mark FROM pg_catalog.pg_publication WHERE pubname = 'leasetop_jobs'
    UNION ALL
    SELECT pg_catalog.format('%s:%s', part.oid, part.xmin)
    FROM pg_catalog.pg_publication_rel AS part JOIN pg_catalog.pg_publication ON pg_publication.oid = prpubid
    WHERE pubname = 'leasetop_jobs') AS marks), '')
