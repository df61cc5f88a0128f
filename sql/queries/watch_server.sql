-- Where the live feed is connected, whether the table is there and may be changed,
-- the database's clock, how far its write-ahead log is written, and what is published.
-- No parameters, one row: version, user, database, read-only, the table's oid (0 without
-- one), clock, position, a text that changes whenever somebody changes the publication.
-- Reads no table: cheap enough to be asked with every poll, so that a promotion, a
-- GRANT or a migration shows by itself.
SELECT current_setting('server_version'),
  current_user::text,
  current_database()::text,
  pg_is_in_recovery()
    OR current_setting('transaction_read_only')::bool
    OR NOT coalesce(has_table_privilege(to_regclass('leasetop.jobs'), 'UPDATE'), true),
  coalesce(to_regclass('leasetop.jobs')::oid, 0),
  clock_timestamp(),
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END,
  coalesce((SELECT string_agg(mark, ' ' ORDER BY mark) FROM (
    SELECT format('%s:%s', oid, xmin) AS mark FROM pg_publication WHERE pubname = 'leasetop_jobs'
    UNION ALL
    SELECT format('%s:%s', part.oid, part.xmin)
    FROM pg_publication_rel AS part JOIN pg_publication ON pg_publication.oid = prpubid
    WHERE pubname = 'leasetop_jobs') AS marks), '')
