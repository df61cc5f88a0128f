-- Builds the index that claims rely on, as the migration defines it, without stopping
-- anybody. It waits for every transaction that is older; when it is interrupted an
-- invalid index stays, which is to be dropped first.
-- Not within a transaction. No parameters, no rows.
CREATE INDEX CONCURRENTLY jobs_ready ON leasetop.jobs (queue, run_at, id) WHERE status = 'pending'
