-- Takes a chore that is due, for one process at a time.
--   $1 name   $2 how many seconds until it is due again
-- Rows: its name, when it is the caller's to do now; none when it is not due. One that
-- was put off for longer than the caller does is due. That is told by the clock, not by
-- the transaction's now, which is from before a caller waited for another one's commit.
INSERT INTO leasetop.chores AS c (name, due_at)
VALUES ($1::text, pg_catalog.now() + pg_catalog.make_interval(secs => $2::float8))
ON CONFLICT (name) DO UPDATE
SET due_at = excluded.due_at
WHERE c.due_at <= pg_catalog.now() OR c.due_at > pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $2::float8)
RETURNING name
