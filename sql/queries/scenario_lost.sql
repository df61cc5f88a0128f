-- The leases of some jobs that ran out and were taken back, whoever did that.
--   $1 job ids
-- Rows: job, owner, attempt, and whether the job is dead of it; oldest first. Index: primary key.
SELECT id, entry ->> 'worker', (entry ->> 'attempt')::int,
  status = 'dead' AND attempts = (entry ->> 'attempt')::int
FROM leasetop.jobs, pg_catalog.jsonb_array_elements(errors) AS entry
WHERE id = ANY ($1::bigint[])
  AND entry ->> 'outcome' = 'lost'
ORDER BY entry ->> 'at', id
