-- Brings a plan from one of some states into another, and enters that in the operator log.
--   $1 plan   $2 the states   $3 the other   $4 who, '' the plan itself   $5 why
--   $6 fencing token of who executes it; NULL whoever does
--   $7 what it is called in the log; '' is no entry
-- Rows: the plan's id; none when it is in no such state, or somebody else has taken it
-- over. An undo begins at what was redriven last. One that stopped begins another canary when it
-- goes on, and is judged by that and what comes after. A redrive or an undo that ends with this
-- completes its entry. In a state in which nothing is to be done the plan is nobody's: whoever
-- has it go on may take it at once, even if its executor has yet to look, or was killed just now.
-- The other entries are about the plan itself, and so about no number of jobs.
-- Index: primary key, operator_log_plan.
WITH turned AS (
  UPDATE leasetop.redrive_plans
  SET state = $3::text,
      state_by = CASE WHEN $3::text = 'undone' THEN state_by ELSE $4::text END, -- whose undo it was
      why = CASE WHEN $3::text = 'undone' THEN why ELSE $5::text END,
      changed_at = pg_catalog.now(),
      ended_at = CASE WHEN $3::text IN ('done', 'cancelled', 'undone') THEN pg_catalog.now() END,
      passed = CASE WHEN state = 'stopped' AND $3::text = 'running' THEN false
        ELSE passed OR state IN ('canary', 'held') AND $3::text IN ('running', 'held') END,
      judged = CASE WHEN state = 'stopped' AND $3::text = 'running' THEN reached ELSE judged END,
      canary_after = CASE WHEN state = 'stopped' AND $3::text = 'running' THEN redriven ELSE canary_after END,
      taken = CASE WHEN $3::text = 'undoing' THEN reached ELSE taken END,
      executor = CASE WHEN $3::text IN ('running', 'canary', 'undoing') THEN executor ELSE '' END,
      token = CASE WHEN $3::text IN ('running', 'canary', 'undoing') THEN token ELSE '' END,
      executor_until = CASE WHEN $3::text IN ('running', 'canary', 'undoing') THEN executor_until ELSE '-infinity' END
  WHERE id = $1::bigint
    AND state = ANY ($2::text[])
    AND ($6::text IS NULL OR token = $6::text)
  RETURNING *),
closed AS (
  UPDATE leasetop.operator_log AS entry
  SET ended = pg_catalog.now(),
      done = CASE entry.what WHEN 'redrive' THEN turned.redriven ELSE turned.undone END,
      skips = CASE entry.what WHEN 'redrive' THEN turned.skipped ELSE turned.redriven - turned.undone END,
      note = CASE turned.state WHEN 'cancelled' THEN 'cancelled by ' || turned.state_by WHEN 'undoing' THEN 'taken back by ' || turned.state_by ELSE '' END
  FROM turned
  WHERE entry.plan = turned.id
    AND entry.plan <> 0
    AND entry.ended IS NULL
    AND entry.what IN ('redrive', 'undo')
    AND turned.state IN ('done', 'cancelled', 'undoing', 'undone')
  RETURNING entry.id),
logged AS (
  INSERT INTO leasetop.operator_log (by_whom, what, filter, reason, plan, asked, ended)
  SELECT CASE turned.state_by WHEN '' THEN 'plan ' || turned.id::text ELSE turned.state_by END,
    $7::text, turned.filter, turned.why, turned.id,
    CASE WHEN $3::text = 'undoing' THEN turned.redriven ELSE 0 END,
    CASE WHEN $3::text <> 'undoing' THEN pg_catalog.now() END
  FROM turned
  WHERE $7::text <> '')
SELECT id FROM turned
