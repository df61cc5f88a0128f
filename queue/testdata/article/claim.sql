WITH candidate AS (
  SELECT id
  FROM jobs
  WHERE queue = $1
    AND status = 'pending'
    AND run_at <= now()
  ORDER BY run_at ASC, id ASC
  FOR UPDATE SKIP LOCKED
  LIMIT 1
)
UPDATE jobs j
SET
  status = 'processing',
  locked_at = now(),
  locked_by = $2,
  lease_expires_at = now() + interval '30 seconds',
  attempts = j.attempts + 1,
  updated_at = now()
FROM candidate c
WHERE j.id = c.id
RETURNING j.*;
