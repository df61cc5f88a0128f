-- Where the live feed is connected, whether the table is there and may be changed,
-- the database's clock, and how far its write-ahead log is written.
-- No parameters, one row: version, user, database, read-only, the table's oid (0 without
-- one), clock, position.
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
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
