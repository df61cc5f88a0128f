-- Drops the index that claims rely on, whole or half built, without stopping anybody.
-- Not within a transaction. No parameters, no rows.
DROP INDEX CONCURRENTLY IF EXISTS leasetop.jobs_ready
