-- Takes ids from the sequence of jobs, for rows that COPY brings.
--   $1 how many
-- Rows: the ids, rising, each with the transaction's now, from which delays count, and
-- whether row-level security filters what this role writes: there is no COPY then.
SELECT pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('leasetop.jobs', 'id')), pg_catalog.now(), pg_catalog.row_security_active('leasetop.jobs')
FROM pg_catalog.generate_series(1, $1::int)
