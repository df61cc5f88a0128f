-- Makes scheduled jobs due now.
--   $1 ids   $2 who wants it
-- Rows: id and queue of each. A missing one is not pending, or due already. A cancel from
-- before a redrive is not meant any more: see claim.sql. The clock, so that who waited for
-- another's row sees that it is due by now. Locks in id order. Index: primary key, kept by
-- IS NOT DISTINCT FROM: see complete.sql.
WITH wanted AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND status IS NOT DISTINCT FROM 'pending'
    AND run_at > pg_catalog.clock_timestamp()
  ORDER BY id
  FOR NO KEY UPDATE)
UPDATE leasetop.jobs
SET run_at = pg_catalog.now(),
    errors = leasetop.with_attempt(errors, attempts, $2::text, 'run now', ''),
    cancelled_by = CASE WHEN errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END,
    updated_at = pg_catalog.now()
FROM wanted
WHERE jobs.id = wanted.id
RETURNING jobs.id, jobs.queue
