-- Ends claims with success, those whose rows nobody else has locked just now: one that
-- is locked cannot hold up the rest.
--   $1 ids   $2 owners, of one length
-- Rows: id and owner of each claim completed. A missing one is locked (the claim stands)
-- or lost, and nothing was changed: lease_owners.sql tells. NO KEY, which is an update's
-- own lock, passes by those that foreign keys take on the jobs they point to.
-- Index: primary key, kept by IS NOT DISTINCT FROM: see complete.sql.
WITH held AS (
  SELECT jobs.id, done.owner
  FROM unnest($1::bigint[], $2::text[]) AS done(id, owner)
  JOIN leasetop.jobs ON jobs.id = done.id AND jobs.locked_by = done.owner
  WHERE jobs.status IS NOT DISTINCT FROM 'processing'
  ORDER BY jobs.id
  FOR NO KEY UPDATE OF jobs SKIP LOCKED)
UPDATE leasetop.jobs
SET status = 'completed',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    updated_at = pg_catalog.now()
FROM held
WHERE jobs.id = held.id
RETURNING jobs.id, held.owner
