-- Puts off a chore that the caller took and is still at, so that nobody else begins it.
--   $1 name   $2 how many seconds until it is due again
-- Rows: its name; none when nobody ever took it. Told by the clock, as in take_chore.sql.
UPDATE leasetop.chores
SET due_at = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $2::float8)
WHERE name = $1::text
RETURNING name
