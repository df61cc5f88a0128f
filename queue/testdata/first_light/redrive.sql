-- Brings one dead letter back: pending now, attempts from zero, history kept.
--   $1 id   $2 who redrives
-- Rows: the queue; none when the job is no dead letter any more. Fails with 23505 on
-- jobs_idempotency when a live job holds its key. Index: primary key.
UPDATE leasetop.jobs
SET status = 'pending',
    run_at = now(),
    attempts = 0,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    errors = leasetop.with_attempt(errors, attempts, $2::text, 'redriven', ''),
    updated_at = now()
WHERE id = $1::bigint
  AND status IN ('failed', 'dead')
RETURNING queue
