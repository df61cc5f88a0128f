-- How many jobs were ever begun to be inserted: ids are drawn at once, not at the commit.
-- No parameters, one row.
SELECT last_value FROM leasetop.jobs_id_seq
