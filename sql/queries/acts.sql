-- A page of the operator log, newest first.
--   $1 only entries with ids below this   $2 how many
-- Rows: the entries, and of the plan of one that has not ended, in what state it is and who
-- executes it, '' nobody. Index: primary keys.
SELECT entry.id, at, ended, entry.by_whom, entry.role, what, entry.filter, entry.reason, ids, plan, asked, done, skips, error, note,
  coalesce(plans.state, ''), CASE WHEN plans.executor_until > pg_catalog.clock_timestamp() THEN plans.executor ELSE '' END
FROM leasetop.operator_log AS entry
LEFT JOIN leasetop.redrive_plans AS plans ON plans.id = entry.plan AND entry.plan <> 0 AND entry.ended IS NULL
WHERE entry.id < $1::bigint
ORDER BY entry.id DESC
LIMIT $2::int
