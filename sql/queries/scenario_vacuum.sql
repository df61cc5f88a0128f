-- Removes old versions of rows that no transaction can see any more.
-- Not within a transaction. No parameters, no rows.
VACUUM leasetop.jobs
