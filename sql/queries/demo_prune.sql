-- Forgets completed jobs of the demonstration with all that was noted of them, so
-- that a dashboard left open for days does not fill the disk.
--   $1 the kinds of the demonstration   $2 how old they must be, in seconds   $3 at most so many
-- Rows affected: jobs deleted. Dead letters are never deleted. Reads jobs in id order.
WITH old AS (
  SELECT id
  FROM leasetop.jobs
  WHERE status = 'completed'
    AND kind = ANY ($1::text[])
    AND updated_at < pg_catalog.now() - pg_catalog.make_interval(secs => $2::float8)
  ORDER BY id
  LIMIT $3::int
  FOR UPDATE SKIP LOCKED),
effects AS (DELETE FROM leasetop.demo_ledger USING old WHERE job_id = old.id),
keys AS (DELETE FROM leasetop.once USING old WHERE key = 'demo:' || old.id::text)
DELETE FROM leasetop.jobs USING old WHERE jobs.id = old.id
