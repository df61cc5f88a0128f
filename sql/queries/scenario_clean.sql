-- Removes all that a play made: jobs in queues named after it, in whatever status, what
-- became of them in the archive, the redrive plans that were its own with their jobs, the
-- keys of what it did once, and its effects. The operator log keeps what it did.
--   $1 the play's name. Its queues have that name, or it and a dash before more; its plans
--      are by 'scenario ' and the name, and its keys begin with it and a blank
-- Rows affected: 1, when the play was entered.
WITH jobs_gone AS (
  DELETE FROM leasetop.jobs WHERE queue = $1::text OR pg_catalog.starts_with(queue, $1::text || '-')),
archive_gone AS (
  DELETE FROM leasetop.jobs_archive WHERE queue = $1::text OR pg_catalog.starts_with(queue, $1::text || '-')),
plans_gone AS (
  DELETE FROM leasetop.redrive_plans WHERE by_whom = 'scenario ' || $1::text RETURNING id),
plan_jobs_gone AS (
  DELETE FROM leasetop.redrive_jobs WHERE plan IN (SELECT id FROM plans_gone)),
once_gone AS (
  DELETE FROM leasetop.once WHERE pg_catalog.starts_with(key, $1::text || ' ')),
effects_gone AS (
  DELETE FROM leasetop.scenario_ledger WHERE run = $1::text)
DELETE FROM leasetop.scenario_runs WHERE run = $1::text
