-- Which transactions run now. No parameters, one row: their numbers.
SELECT coalesce(array_agg(xid::text::bigint), '{}')
FROM pg_snapshot_xip(pg_current_snapshot()) AS running(xid)
