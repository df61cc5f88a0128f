-- Wakes the workers of these queues when the transaction commits.
--   $1 queues
SELECT pg_catalog.pg_notify('leasetop_ready', queue) FROM pg_catalog.unnest($1::text[]) AS woken(queue)
