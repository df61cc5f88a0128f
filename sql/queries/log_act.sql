-- Enters an act in the operator log, before it begins.
--   $1 who   $2 what   $3 filter   $4 reason   $5 ids of the jobs, the first hundred
--   $6 plan, 0 none   $7 how many jobs or queues it is about
-- Rows: the entry's id.
INSERT INTO leasetop.operator_log (by_whom, what, filter, reason, ids, plan, asked)
VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint[], $6::bigint, $7::bigint)
RETURNING id
