UPDATE jobs
SET status = 'dead',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = $3,
    updated_at = now()
WHERE id = $1
  AND locked_by = $2
  AND status = 'processing';
