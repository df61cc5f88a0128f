UPDATE jobs
SET status = 'pending',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    updated_at = now()
WHERE status = 'processing'
  AND lease_expires_at < now()
  AND attempts < max_attempts;
