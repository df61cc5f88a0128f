-- Makes the schema of a play. It must not exist: what is there is somebody's.
-- No parameters, no rows.
CREATE SCHEMA leasetop
