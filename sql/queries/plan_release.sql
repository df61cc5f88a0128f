-- Gives a plan back, for others to execute it at once.
--   $1 plan   $2 fencing token
-- Rows: the plan's id; none when somebody else has taken it over. Index: primary key.
UPDATE leasetop.redrive_plans
SET executor = '',
    token = '',
    executor_until = '-infinity'
WHERE id = $1::bigint
  AND token = $2::text
RETURNING id
