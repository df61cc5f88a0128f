-- Whether a standby has each commit before it is acknowledged.
-- No parameters. One row. Sees the other's state as superuser or with pg_read_all_stats.
SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum'))
