-- Which transactions run now. No parameters, one row: their numbers.
SELECT coalesce(pg_catalog.array_agg(xid::text::bigint), '{}')
FROM pg_catalog.pg_snapshot_xip(pg_catalog.pg_current_snapshot()) AS running(xid)
