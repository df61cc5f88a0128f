-- Replaces the payload of a job that waits or is a dead letter, and keeps the one it had.
-- One that is the same already is left. It is no step in the job's life: updated_at stays,
-- and with it the time of a death.
--   $1 id   $2 the payload that the editor began with   $3 the new one   $4 who edits   $5 why
-- Rows: the job's id, and whether its payload is another now; none when it is running, completed or gone, or has another payload
-- by now. A cancel from before a redrive is not meant any more: see claim.sql. Index:
-- primary key.
WITH wanted AS (
  SELECT id, payload, payload::text <> ($3::text::jsonb)::text AS differs
  FROM leasetop.jobs
  WHERE id = $1::bigint
    AND status IN ('pending', 'failed', 'dead')
    AND payload::text = ($2::text::jsonb)::text
  FOR NO KEY UPDATE),
kept AS (
  INSERT INTO leasetop.originals (job_id, by_whom, reason, payload)
  SELECT id, $4::text, $5::text, payload
  FROM wanted
  WHERE differs)
UPDATE leasetop.jobs
SET payload = CASE WHEN differs THEN $3::text::jsonb ELSE jobs.payload END,
    errors = CASE WHEN differs THEN leasetop.with_attempt(errors, attempts, $4::text, 'edited', pg_catalog.left($5::text, 2000)) ELSE errors END,
    cancelled_by = CASE WHEN errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END
FROM wanted
WHERE jobs.id = wanted.id
RETURNING jobs.id, wanted.differs
