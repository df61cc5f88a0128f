-- Takes a plan to execute it, for one process at a time, under a lease.
--   $1 plan   $2 who, for a person   $3 fencing token   $4 lease in seconds
-- Rows: the plan's id; none when somebody else executes it, or nothing is to be done in
-- its state. Who asks again with his token has it. By the clock, not by the transaction's
-- now, which is from before a wait for another one's commit. Index: primary key.
UPDATE leasetop.redrive_plans
SET executor = $2::text,
    token = $3::text,
    executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $4::float8)
WHERE id = $1::bigint
  AND (token = $3::text OR executor_until <= pg_catalog.clock_timestamp())
  AND state IN ('running', 'canary', 'undoing')
RETURNING id
