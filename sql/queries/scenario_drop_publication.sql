-- Drops the publication of a play's own schema, which is the database's, not the schema's.
-- No parameters, no rows.
DROP PUBLICATION IF EXISTS leasetop_jobs
