-- Leaves the next job of a plan's undo as it is, which PostgreSQL would not let be taken back.
--   $1 plan   $2 fencing token   $3 the position to go down from   $4 why   $5 lease in seconds
-- Rows: as plan_undo.sql. Index: primary keys.
WITH mine AS (
  UPDATE leasetop.redrive_plans
  SET taken = taken - 1,
      executor_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::float8)
  WHERE id = $1::bigint
    AND token = $2::text
    AND taken = $3::bigint
    AND state = 'undoing'
  RETURNING id)
UPDATE leasetop.redrive_jobs AS r
SET reason = $4::text
FROM mine
WHERE r.plan = mine.id
  AND r.plan = $1::bigint
  AND r.position = $3::bigint
RETURNING 0::bigint, 1::bigint
