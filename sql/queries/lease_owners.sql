-- Who owns these jobs now: asked for leases that a heartbeat did not renew.
--   $1 ids   $2 whose leases they were, in the same order
-- Rows: for each of them whose job exists: its place in the list, status, owner ('' when
-- nobody), and whether that is the one asked about. The whole owner is compared; of one that
-- is long only the beginning is returned. Index: primary key.
SELECT asked.n, jobs.status, coalesce(pg_catalog.left(jobs.locked_by, 1000), ''), jobs.locked_by IS NOT DISTINCT FROM asked.owner
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked(id, owner, n)
JOIN leasetop.jobs ON jobs.id = asked.id
