-- Drops a play's own schema with all there is in it.
-- No parameters, no rows.
DROP SCHEMA IF EXISTS leasetop CASCADE
