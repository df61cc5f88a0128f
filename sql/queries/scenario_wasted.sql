-- The jobs of a play that did not go straight through.
--   $1 its queues
-- One row: how many took more than one attempt, or have an attempt in their history that
-- did not end well. Reads the play's jobs whole.
SELECT pg_catalog.count(*)
FROM leasetop.jobs
WHERE queue = ANY ($1::text[]) AND (attempts > 1 OR errors <> '[]')
