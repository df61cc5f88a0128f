-- Where the live feed is connected, whether the table is there and may be changed,
-- the database's clock, and which transactions a reading made now contains.
-- No parameters, one row: version, user, database, read-only, schema missing, clock, snapshot.
-- Reads no table: cheap enough to be asked with every poll, so that a promotion, a
-- GRANT or a migration shows by itself.
SELECT current_setting('server_version'),
  current_user::text,
  current_database()::text,
  pg_is_in_recovery()
    OR current_setting('transaction_read_only')::bool
    OR NOT coalesce(has_table_privilege(to_regclass('leasetop.jobs'), 'UPDATE'), true),
  to_regclass('leasetop.jobs') IS NULL,
  clock_timestamp(),
  pg_current_snapshot()::text
