-- Renews many leases in one statement, each for its own length from now.
--   $1 ids   $2 owners   $3 lease lengths in seconds   $4 seconds that must be left of
--   the lease as it is, 0 for any and for one that ran out; all of one length
-- Rows: id and owner of each lease renewed (both, since one process may hold a stale
-- claim and the fresh one of the same job), and who wants the job cancelled, if anybody.
-- One that is missing is locked by another transaction just now or has too little left
-- (the lease stands as it was), or is lost: lease_owners.sql tells.
-- $4 is for a statement that a network holds up until its worker has given the job up,
-- as it does when its margin is reached: it must not take the job from others for a
-- lease more. What is left counts when the statement runs, not when it began to wait.
-- Rows locked elsewhere are skipped, so one of them cannot hold up the rest. NO KEY,
-- which is an update's own lock, passes by those that foreign keys take: a handler whose
-- open transaction inserted a row that points to its job keeps its lease.
-- Index: primary key. Changes no indexed column, so nearly all of it is HOT.
WITH held AS (
  SELECT jobs.id, beat.secs
  FROM unnest($1::bigint[], $2::text[], $3::float8[], $4::float8[]) AS beat(id, owner, secs, spare)
  JOIN leasetop.jobs ON jobs.id = beat.id AND jobs.locked_by = beat.owner
  WHERE jobs.status IS NOT DISTINCT FROM 'processing'
    AND (beat.spare = 0::float8 OR jobs.lease_expires_at >= pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => beat.spare))
  ORDER BY jobs.id
  FOR NO KEY UPDATE OF jobs SKIP LOCKED)
UPDATE leasetop.jobs
SET lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => held.secs),
    updated_at = pg_catalog.now()
FROM held
WHERE jobs.id = held.id
RETURNING jobs.id, jobs.locked_by, coalesce(pg_catalog.left(jobs.cancelled_by, 1000), '')
