-- Who owns these jobs now: asked for leases that a heartbeat did not renew.
--   $1 ids
-- Rows: id, status, owner ('' when nobody) of each job that exists. Index: primary key.
SELECT id, status, coalesce(locked_by, '')
FROM leasetop.jobs
WHERE id = ANY ($1::bigint[])
