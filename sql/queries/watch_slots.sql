-- Replication slots, and how much of the write-ahead log each keeps from being removed.
--   $1 what the names of this feed's own begin with   $2 how many in all
-- Rows, the own first, then those that hold most: name, whether somebody reads it, the
-- reader's process id or 0, whether the slot goes with its session, bytes held, what the
-- server says of them ("lost": the slot is of no use any more).
SELECT slot_name::text, active, coalesce(active_pid, 0)::bigint, temporary,
  coalesce(greatest(pg_catalog.pg_wal_lsn_diff(
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END, restart_lsn), 0), 0)::bigint AS held,
  coalesce(wal_status, '')
FROM pg_catalog.pg_replication_slots
ORDER BY pg_catalog.starts_with(slot_name, $1::text) DESC, held DESC, slot_name
LIMIT $2::bigint
