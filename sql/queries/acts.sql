-- A page of the operator log, newest first.
--   $1 only entries with ids below this   $2 how many
-- Rows: the entries. Index: primary key.
SELECT id, at, ended, by_whom, role, what, filter, reason, ids, plan, asked, done, skips, error
FROM leasetop.operator_log
WHERE id < $1::bigint
ORDER BY id DESC
LIMIT $2::int
