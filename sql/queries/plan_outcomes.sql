-- What has become by now of the jobs that a plan redrove.
--   $1 plan   $2, $3 only those at positions above the first and up to the second
-- Rows: one: how many there are, and how many of them are completed, dead letters again,
-- in processing, pending, and gone from the table. Index: primary keys.
SELECT count(*),
  count(*) FILTER (WHERE jobs.status = 'completed'),
  count(*) FILTER (WHERE jobs.status IN ('failed', 'dead')),
  count(*) FILTER (WHERE jobs.status = 'processing'),
  count(*) FILTER (WHERE jobs.status = 'pending'),
  count(*) FILTER (WHERE jobs.id IS NULL)
FROM leasetop.redrive_jobs AS planned
LEFT JOIN leasetop.jobs ON jobs.id = planned.job_id
WHERE planned.plan = $1::bigint
  AND planned.position > $2::bigint
  AND planned.position <= $3::bigint
  AND planned.state = 'redriven'
