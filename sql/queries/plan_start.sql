-- Begins a redrive plan, whose jobs plan_add.sql adds in the same transaction.
--   $1 who   $2 filter   $3 reason   $4 canary   $5 wait   $6 pace   $7 stop at, per cent; NULL never
--   $8 how many jobs it will have
-- Rows: the plan's id.
INSERT INTO leasetop.redrive_plans (by_whom, state_by, filter, reason, canary, wait, pace, stop_at, total)
VALUES ($1::text, $1::text, $2::text, $3::text, $4::int, $5::boolean, $6::float8, $7::int, $8::bigint)
RETURNING id
