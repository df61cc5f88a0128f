-- The jobs whose rows the server refuses to change, as they were met lately.
--   $1 one job's id, NULL for all   $2 limit
-- Rows: the job's id, its queue, the act, SQLSTATE, reason, detail, who met it, when first
-- and last, and how often; the longest refused first. Notes about a row that was changed
-- since are left out, and so are those of a process that would have tried again by now.
-- Index: primary keys.
SELECT refusals.job_id, jobs.queue, refusals.act, refusals.sqlstate, refusals.reason, refusals.detail, refusals.by_whom,
  refusals.first_at, refusals.last_at, refusals.times
FROM leasetop.refusals
JOIN leasetop.jobs ON jobs.id = refusals.job_id AND refusals.version IN (jobs.xmin::text, jobs.locked_by)
WHERE ($1::bigint IS NULL OR refusals.job_id = $1::bigint)
  AND refusals.last_at > pg_catalog.now() - interval '15 minutes'
ORDER BY refusals.first_at, refusals.job_id
LIMIT $2::int
