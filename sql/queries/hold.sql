-- Locks these leased jobs until the transaction ends, those that nobody else has locked. A
-- statement behind it that does not change one of them met a trigger that returned NULL.
--   $1 ids   $2 owners, of one length   $3 seconds that must be left of each lease, 0 for any
-- Rows: id and owner of each lease held. Index: primary key.
SELECT jobs.id, jobs.locked_by
FROM unnest($1::bigint[], $2::text[], $3::float8[]) AS wanted(id, owner, spare)
JOIN leasetop.jobs ON jobs.id = wanted.id AND jobs.locked_by = wanted.owner
WHERE jobs.status IS NOT DISTINCT FROM 'processing'
  AND (wanted.spare = 0::float8 OR jobs.lease_expires_at >= pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => wanted.spare))
ORDER BY jobs.id
FOR NO KEY UPDATE OF jobs SKIP LOCKED
