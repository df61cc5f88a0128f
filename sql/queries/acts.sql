-- A page of the operator log, newest first.
--   $1 only entries with ids below this   $2 how many
-- Rows: the entries, one of a plan that has not ended with what the plan has done so far, in
-- what state the plan is and who executes it, '' nobody. Index: primary keys.
SELECT entry.id, at, ended, pg_catalog.left(entry.by_whom, 1000), pg_catalog.left(entry.role, 100), pg_catalog.left(what, 100), pg_catalog.left(entry.filter, 10000), pg_catalog.left(entry.reason, 10000),
  ids[1:100], plan, asked,
  CASE entry.what WHEN 'redrive' THEN coalesce(plans.redriven, done) WHEN 'undo' THEN coalesce(plans.undone, done) ELSE done END,
  CASE entry.what WHEN 'redrive' THEN coalesce(plans.skipped, skips) ELSE skips END,
  pg_catalog.left(error, 10000), pg_catalog.left(note, 1000),
  coalesce(plans.state, ''), CASE WHEN plans.executor_until > pg_catalog.clock_timestamp() THEN pg_catalog.left(plans.executor, 1000) ELSE '' END
FROM leasetop.operator_log AS entry
LEFT JOIN leasetop.redrive_plans AS plans ON plans.id = entry.plan AND entry.plan <> 0 AND entry.ended IS NULL
WHERE entry.id < $1::bigint
ORDER BY entry.id DESC
LIMIT $2::int
