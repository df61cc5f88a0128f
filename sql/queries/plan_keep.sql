-- Renews the lease of whoever executes a plan.
--   $1 plan   $2 fencing token   $3 lease in seconds
-- Rows: the plan's id; none when somebody else has taken it over. Index: primary key.
UPDATE leasetop.redrive_plans
SET executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3::float8)
WHERE id = $1::bigint
  AND token = $2::text
RETURNING id
