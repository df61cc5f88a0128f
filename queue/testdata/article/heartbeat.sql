UPDATE jobs
SET lease_expires_at = now() + interval '30 seconds',
    updated_at = now()
WHERE id = $1
  AND locked_by = $2
  AND status = 'processing';
