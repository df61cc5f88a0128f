-- Takes a chore that is due, for one process at a time.
--   $1 name   $2 how many seconds until it is due again
-- Rows: its name, when it is the caller's to do now; none when it is not due. One that
-- was put off for longer than the caller does is due.
INSERT INTO leasetop.chores AS c (name, due_at)
VALUES ($1::text, now() + make_interval(secs => $2::float8))
ON CONFLICT (name) DO UPDATE
SET due_at = excluded.due_at
WHERE c.due_at <= now() OR c.due_at > excluded.due_at
RETURNING name
