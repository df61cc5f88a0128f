-- Where a job is, read at one moment: acts on it may run at the same time.
--   $1 id
-- One row: its status, NULL when there is no such job, and whether the archive has one
-- of its id. Index: primary keys.
SELECT (SELECT status FROM leasetop.jobs WHERE id = $1::bigint),
  EXISTS (SELECT FROM leasetop.jobs_archive WHERE id = $1::bigint)
