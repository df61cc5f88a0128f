UPDATE jobs
SET status = 'pending',
    run_at = now() + interval '1 minute' * power(2, least(attempts, 6)),
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = $3,
    updated_at = now()
WHERE id = $1
  AND locked_by = $2
  AND status = 'processing'
  AND attempts < max_attempts;
