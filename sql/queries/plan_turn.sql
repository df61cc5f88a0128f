-- Brings a plan from one of some states into another, and enters that in the operator log.
--   $1 plan   $2 the states   $3 the other   $4 who, '' the plan itself   $5 why
--   $6 fencing token of who executes it; NULL whoever does
--   $7 what it is called in the log; '' is no entry
-- Rows: the plan's id; none when it is in no such state, or somebody else has taken it
-- over. An undo begins at what was redriven last. A redrive or an undo that ends with this completes
-- its entry. Index: primary key, operator_log_plan.
WITH turned AS (
  UPDATE leasetop.redrive_plans
  SET state = $3::text,
      state_by = $4::text,
      why = $5::text,
      changed_at = now(),
      ended_at = CASE WHEN $3::text IN ('done', 'cancelled', 'undone') THEN now() END,
      passed = passed OR state IN ('canary', 'held', 'stopped') AND $3::text IN ('running', 'held'),
      judged = CASE WHEN state = 'stopped' AND $3::text = 'running' THEN reached ELSE judged END,
      taken = CASE WHEN $3::text = 'undoing' THEN reached ELSE taken END
  WHERE id = $1::bigint
    AND state = ANY ($2::text[])
    AND ($6::text IS NULL OR token = $6::text)
  RETURNING *),
closed AS (
  UPDATE leasetop.operator_log AS entry
  SET ended = now(),
      done = CASE entry.what WHEN 'redrive' THEN turned.redriven ELSE turned.undone END,
      skips = CASE entry.what WHEN 'redrive' THEN turned.skipped ELSE turned.redriven - turned.undone END,
      error = CASE WHEN turned.state IN ('cancelled', 'undoing') THEN turned.state || ' by ' || turned.state_by ELSE '' END
  FROM turned
  WHERE entry.plan = turned.id
    AND entry.plan <> 0
    AND entry.ended IS NULL
    AND entry.what IN ('redrive', 'undo')
    AND turned.state IN ('done', 'cancelled', 'undoing', 'undone')
  RETURNING entry.id),
logged AS (
  INSERT INTO leasetop.operator_log (by_whom, what, filter, reason, plan, asked, ended)
  SELECT CASE turned.state_by WHEN '' THEN 'plan ' || turned.id ELSE turned.state_by END,
    $7::text, turned.filter, turned.why, turned.id,
    CASE $3::text WHEN 'undoing' THEN turned.redriven ELSE turned.total - turned.reached END,
    CASE WHEN $3::text <> 'undoing' THEN now() END
  FROM turned
  WHERE $7::text <> '')
SELECT id FROM turned
