-- What may trouble the queue or the live feed, as far as it is one figure. The rest tell
-- watch_parts.sql, watch_slots.sql and watch_transactions.sql.
-- No parameters. One row, none without the table: the clock; how full the notification
-- queue is, of 1; sessions of others whose transactions the role may not see; whether
-- this is a standby, which counts no dead rows; whether the server counts none; whether
-- autovacuum is off on the server, and for the table; live rows and dead; at how many dead
-- ones autovacuum comes; the last vacuum by hand and the last by itself; the age of the
-- oldest transaction id in the table, and that at which PostgreSQL vacuums in any case.
-- Reads the catalog and statistics alone, and takes no lock on the table.
SELECT pg_catalog.clock_timestamp(),
  pg_catalog.pg_notification_queue_usage(),
  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity WHERE usesysid IS NOT NULL AND backend_type IS NULL),
  pg_catalog.pg_is_in_recovery(),
  NOT pg_catalog.current_setting('track_counts')::bool,
  NOT pg_catalog.current_setting('autovacuum')::bool,
  NOT coalesce(options.set ->> 'autovacuum_enabled', 'on')::bool,
  rows.n_live_tup, rows.n_dead_tup,
  (coalesce(options.set ->> 'autovacuum_vacuum_threshold', pg_catalog.current_setting('autovacuum_vacuum_threshold'))::float8
    + coalesce(options.set ->> 'autovacuum_vacuum_scale_factor', pg_catalog.current_setting('autovacuum_vacuum_scale_factor'))::float8
      * greatest(jobs.reltuples, 0))::bigint,
  rows.last_vacuum, rows.last_autovacuum,
  pg_catalog.age(jobs.relfrozenxid),
  coalesce(options.set ->> 'autovacuum_freeze_max_age', pg_catalog.current_setting('autovacuum_freeze_max_age'))::bigint
FROM pg_catalog.pg_class AS jobs
  JOIN pg_catalog.pg_stat_all_tables AS rows ON rows.relid = jobs.oid
  CROSS JOIN LATERAL (
    SELECT pg_catalog.jsonb_object_agg(option_name, option_value) AS set FROM pg_catalog.pg_options_to_table(jobs.reloptions)) AS options
WHERE jobs.oid = pg_catalog.to_regclass('leasetop.jobs')::oid
