-- Ends the pauses of queues. The trigger on queues wakes their workers.
--   $1 queues
-- Rows: the queues that were paused. Locks in the order of their names. Index: primary key.
WITH wanted AS (
  SELECT queue, paused_at
  FROM leasetop.queues
  WHERE queue = ANY ($1::text[])
  ORDER BY queue
  FOR UPDATE)
UPDATE leasetop.queues
SET paused_at = NULL, paused_by = NULL, paused_why = NULL
FROM wanted
WHERE queues.queue = wanted.queue
  AND wanted.paused_at IS NOT NULL
RETURNING queues.queue
