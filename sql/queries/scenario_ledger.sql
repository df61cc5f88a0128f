-- What became of a play's jobs.
--   $1 the play's name   $2 ids of jobs whose enqueue was acknowledged
--   $3 the queues in which nothing may go wrong
-- One row: effects in those queues; those beyond the first of a job; acknowledged jobs that
-- are gone, or completed without an effect; whether the play is still entered, without which
-- another play removed its jobs. All in one snapshot.
-- Indexes: the ledger's own, jobs' primary key.
WITH effects AS (
  SELECT job_id, pg_catalog.count(*) AS n
  FROM leasetop.scenario_ledger
  WHERE run = $1::text
  GROUP BY job_id)
SELECT coalesce(pg_catalog.sum(n), 0)::bigint, coalesce(pg_catalog.sum(n - 1), 0)::bigint,
  (SELECT pg_catalog.count(*)
   FROM pg_catalog.unnest($2::bigint[]) AS acknowledged(id)
   LEFT JOIN leasetop.jobs USING (id)
   WHERE jobs.id IS NULL
     OR (jobs.status = 'completed' AND NOT EXISTS (
       SELECT FROM leasetop.scenario_ledger WHERE run = $1::text AND job_id = acknowledged.id))),
  EXISTS (SELECT FROM leasetop.scenario_runs WHERE run = $1::text)
FROM effects JOIN leasetop.jobs ON jobs.id = job_id
WHERE queue = ANY ($3::text[])
